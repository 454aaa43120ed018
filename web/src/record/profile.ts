// A profile as a tree: stacks that begin alike share their first frames, and each frame weighs as much as all stacks through it.

export type FrameKind = "user" | "kernel" | "softirq" | "irq";
export type ProfileKind = "on-cpu" | "off-cpu";

/** Events by which running code is sampled; all but `cpu-clock` are counted by the CPU. */
export type SampledEvent = "cpu-clock" | "cycles" | "instructions" | "cache-misses" | "branch-misses";

export interface ProfileFrame {
  name: string;
  object: string;
  kind: FrameKind;
  is_resolved: boolean;
}

export interface ProfileStack {
  process: number;
  /** Indices of frames, the outermost first. */
  frames: number[];
  count: number;
  /** Of CPU time and waits. */
  value_ns?: number;
  /** Of events that the CPU counts. */
  events_count?: number;
}

export interface Profile {
  kind: ProfileKind;
  /** `null` of waits. */
  event?: SampledEvent | null;
  host?: string;
  scope_pids: number[];
  begin_mono_ns: number;
  end_mono_ns: number;
  rate_hz: number | null;
  cpus_count: number;
  /** Why the kernel was not sampled; missing where it was. */
  kernel_unseen?: { perf_event_paranoid: number | null; processes_cpu_ns: number | null };
  /** Processes of other users below those that were profiled. */
  unseen_pids?: number[];
  counts: {
    samples_count: number;
    lost_count: number;
    beyond_bound_count: number;
    frames_count: number;
    resolved_frames_count: number;
    user_stacks_count: number;
    cut_stacks_count: number;
    /** Waits whose stack was not copied, since there were too many; `null` where none is, or where it was not counted. */
    uncopied_stacks_count?: number | null;
  };
  /** Responses to the load while sampling; `null` without a load. */
  requests_count: number | null;
  cost: { sampling_cpu_ns: number; naming_cpu_ns: number };
  processes: { pid: number; name: string }[];
  frames: ProfileFrame[];
  stacks: ProfileStack[];
}

export interface SymbolShare {
  frame: ProfileFrame;
  self_ratio: number;
  total_ratio: number;
}

export interface ProgramShare {
  name: string;
  processes_count: number;
  ratio: number;
  symbols: SymbolShare[];
  unnamed_objects: string[];
}

export interface ProfileSummary {
  value_ns?: number;
  events_count?: number;
  /** `null` of events that the CPU counts. */
  mean_count: number | null;
  resolved_ratio: number | null;
  cut_ratio: number | null;
  kernel_unseen_ratio?: number;
  kinds: { kind: FrameKind; ratio: number }[];
  programs: ProgramShare[];
}

export interface ProfilePayload {
  schema: typeof PROFILE_SCHEMA;
  subject: string;
  tool: { version: string; target: string };
  /** Nanoseconds since 1970, as a decimal string. */
  started_unix_ns: string;
  profile: Profile;
  summary: ProfileSummary;
}

export const PROFILE_SCHEMA = "sysdyno.report-profile/1";

/** What a stack weighs, in the unit of its profile. */
export function weightOf(stack: ProfileStack): number {
  return stack.value_ns ?? stack.events_count ?? 0;
}

/** The event of the CPU that was sampled; `null`: weights are time. */
export function countedEvent(profile: Profile): SampledEvent | null {
  return profile.event === undefined || profile.event === "cpu-clock" ? null : profile.event;
}

/** What the stacks of a process are put under, below the root. */
export type Grouping = (process: { pid: number; name: string }) => string;

export const byProgram: Grouping = ({ name }) => name;

const NO_PROCESS = { pid: 0, name: "" };

/** Groups with their share of a profile, the largest first. */
export function groupsOf(profile: Profile, grouping: Grouping = byProgram): { name: string; ratio: number }[] {
  const sums = new Map<string, number>();
  let whole = 0;
  for (const stack of profile.stacks) {
    const name = grouping(profile.processes[stack.process] ?? NO_PROCESS);
    sums.set(name, (sums.get(name) ?? 0) + weightOf(stack));
    whole += weightOf(stack);
  }
  const groups = [...sums].map(([name, value]) => ({ name, ratio: value / Math.max(whole, 1) }));
  return groups.sort((a, b) => b.ratio - a.ratio);
}

export interface Weight {
  value: number;
  self: number;
  count: number;
}

/** A frame in the place where it was called from. */
export interface FlameNode {
  /** Unlike all others of the page. */
  id: number;
  name: string;
  object: string;
  /** `null` of the root, of groups, and of programs, which are no functions. */
  kind: FrameKind | null;
  value: number;
  /** Of that, what it ran or waited itself. */
  self: number;
  count: number;
  /** The same in the profile that this one is held against, if there is one. */
  before: Weight;
  parent: FlameNode | null;
  /** The widest first. */
  children: FlameNode[];
}

interface Growing extends FlameNode {
  byKey: Map<string, Growing>;
  children: Growing[];
}

let sprouted = 0;

function sprout(parent: Growing | null, name: string, object: string, kind: FrameKind | null): Growing {
  sprouted += 1;
  const before = { value: 0, self: 0, count: 0 };
  return { id: sprouted, name, object, kind, value: 0, self: 0, count: 0, before, parent, children: [], byKey: new Map() };
}

function child(parent: Growing, key: string, make: () => Growing): Growing {
  const known = parent.byKey.get(key);
  if (known) return known;
  const made = make();
  parent.byKey.set(key, made);
  parent.children.push(made);
  return made;
}

/** The tree of all stacks, or of those of one group. Below the root are the groups, and below those the programs. */
export function flameTree(profile: Profile, chosen: string | null, grouping: Grouping = byProgram): FlameNode {
  const root = sprout(null, "all", "", null);
  grow(root, profile, { chosen, grouping }, (node) => node);
  sort(root);
  return root;
}

/**
 * One tree of both profiles: frames of one name, file, and kind that were called alike are one. Values are nanoseconds per response
 * of the load.
 */
export function differenceTree(profile: Profile, before: Profile, chosen: string | null, grouping: Grouping = byProgram): FlameNode {
  const root = sprout(null, "all", "", null);
  grow(root, profile, { chosen, grouping }, (node) => node, 1 / Math.max(profile.requests_count ?? 0, 1));
  grow(root, before, { chosen, grouping }, (node) => node.before, 1 / Math.max(before.requests_count ?? 0, 1));
  sort(root);
  return root;
}

/** Which stacks are shown, and what they are put under. */
interface Choice {
  /** A group; `null`: all of them. */
  chosen: string | null;
  grouping: Grouping;
}

/** Adds the stacks of a profile to a tree, their weight times `scale` to one of the weights of each node. */
function grow(root: Growing, profile: Profile, { chosen, grouping }: Choice, side: (node: Growing) => Weight, scale = 1): void {
  for (const stack of profile.stacks) {
    const process = profile.processes[stack.process] ?? NO_PROCESS;
    const group = grouping(process);
    if (chosen !== null && group !== chosen) continue;
    const value = weightOf(stack) * scale;
    const add = (node: Growing) => {
      side(node).value += value;
      side(node).count += stack.count;
      return node;
    };
    let node = add(root);
    for (const name of new Set([group, process.name])) {
      const parent: Growing = node;
      node = add(child(parent, name, () => sprout(parent, name, "", null)));
    }
    for (const index of stack.frames) {
      const frame = profile.frames[index];
      if (!frame) continue;
      const parent: Growing = node;
      const key = `${frame.kind} ${frame.object} ${frame.name}`;
      node = add(child(parent, key, () => sprout(parent, frame.name, frame.object, frame.kind)));
    }
    side(node).self += value;
  }
}

function sort(node: FlameNode): void {
  const waiting = [node];
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    next.children.sort((a, b) => b.value - a.value || a.name.localeCompare(b.name));
    waiting.push(...next.children);
  }
}

/** A frame on the screen; `x` and `width` are shares of the whole width. */
export interface FlameBox {
  node: FlameNode;
  x: number;
  width: number;
  depth: number;
  /** Whether it leads to what is shown, and is as wide as everything. */
  isAbove: boolean;
}

/** The boxes of what is below `zoomed`, and of the way to it, row by row; what is narrower than `least` is left out. */
export function flameBoxes(zoomed: FlameNode, least: number): FlameBox[] {
  const way: FlameNode[] = [];
  for (let node: FlameNode | null = zoomed; node; node = node.parent) way.unshift(node);
  const boxes: FlameBox[] = way.map((node, depth) => ({ node, x: 0, width: 1, depth, isAbove: node !== zoomed }));
  let row = boxes.slice(-1);
  while (row.length > 0) {
    row = row.flatMap((box) => childBoxes(box, least / Math.max(box.width, least)));
    boxes.push(...row);
  }
  return boxes;
}

function childBoxes(box: FlameBox, least: number): FlameBox[] {
  let x = box.x;
  const found: FlameBox[] = [];
  for (const node of box.node.children) {
    const share = box.node.value > 0 ? node.value / box.node.value : 0;
    // They are sorted: all that follow are narrower still.
    if (share < least) break;
    found.push({ node, x, width: share * box.width, depth: box.depth + 1, isAbove: false });
    x += share * box.width;
  }
  return found;
}

/** Of a tree, the weight of the stacks in which a name contains this text, in capitals or not; each stack once. */
export function matching(root: FlameNode, text: string): number {
  const wanted = text.toLowerCase();
  let sum = 0;
  const waiting = [root];
  for (let node = waiting.pop(); node; node = waiting.pop()) {
    if (isMatch(node, wanted)) sum += node.value;
    else waiting.push(...node.children);
  }
  return sum;
}

/** `wanted` is in lower case. */
export function isMatch(node: FlameNode, wanted: string): boolean {
  return wanted !== "" && node.parent !== null && (node.name.toLowerCase().includes(wanted) || node.object.toLowerCase().includes(wanted));
}
