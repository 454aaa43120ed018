// Which counters are shown together over time, in which unit and order: the table behind the small multiples.

import type { Run, Values } from "../record/decode.ts";
import { isMoving, keyOf } from "../record/decode.ts";
import type { Moment } from "../record/moments.ts";
import { drawn, drawnBounds, drawnUnit, growth, sum } from "../record/rates.ts";
import { objectiveOf } from "../record/plan.ts";
import type { Column } from "../record/types.ts";
import type { Heat } from "../record/heat.ts";
import type { Strips } from "./heat.ts";
import type { Hue } from "./palette.ts";
import { probePanels } from "./probes.ts";
import { stripPanels } from "./strips.ts";

export interface Line {
  label: string;
  values: Values;
  hue: Hue;
  /** Lengths of strokes and gaps in pixels; none for a solid line. */
  dash?: number[];
  /** The least and the greatest where a value stands for several; drawn as a band around the line. */
  bounds?: { low: Values; high: Values };
}

export interface Limit {
  label: string;
  value: number;
}

export interface Panel {
  id: string;
  group: string;
  title: string;
  unit: string;
  /** One second per value of each line. */
  seconds: number[];
  lines: Line[];
  /** Lines are added up, the first one at the bottom. */
  isStacked?: boolean;
  /** Of stacked lines whose values stand for several: the greatest sum. */
  peak?: { label: string; values: Values };
  isLog?: boolean;
  /** Cells behind the lines. */
  heat?: Heat;
  /** Rows of cells instead of lines. */
  strips?: Strips;
  /** Seconds of operations that were lost; drawn as ticks at the top. */
  lost?: number[];
  /** Upper end of the scale where the unit has one. */
  top?: number;
  limit?: Limit;
  /** Columns `name@scope` that are in the panel. */
  columns: string[];
  /** What the unit is a share of, where that is not the time. */
  unitText?: string;
  note?: string;
}

/** Most panels of the same kind: processors, listeners, interfaces, disks. */
const MOST = { cpus: 8, processes: 4, listeners: 3, interfaces: 3, disks: 2 };

const HUES: Hue[] = ["a", "b", "c", "d"];
const DASHES: (number[] | undefined)[] = [undefined, [7, 3], [2, 2], [9, 3, 2, 3]];

/** A line whose hue and dashes follow from its place among its neighbours. */
function line(position: number, label: string, values: Values): Line {
  const dash = DASHES[position % DASHES.length];
  return { label, values, hue: HUES[position % HUES.length] ?? "a", ...(dash && { dash }) };
}

/** All panels of a record, in the order in which they are read: load, server, processors, network, the rest. */
export function panelsOf(run: Run): { panels: Panel[]; silent: Panel[] } {
  const all = [...loadPanels(run), ...probePanels(run), ...serverPanels(run), ...cpuPanels(run), ...networkPanels(run), ...hostPanels(run)];
  const measured = all.filter((panel) => panel.lost?.length || panel.lines.some((each) => each.values.some((value) => value !== null)));
  const isSilent = (panel: Panel) => !panel.lost?.length && panel.lines.every((each) => each.values.every((value) => value === null || value === 0));
  return { panels: measured.filter((panel) => !isSilent(panel)), silent: measured.filter(isSilent) };
}

/** A panel of one column alone. */
export function columnPanel(run: Run, column: Column): Panel {
  return {
    id: `panel-${keyOf(column)}`,
    group: "Added",
    title: `${column.name} · ${column.scope}`,
    unit: drawnUnit(column).unit,
    seconds: run.rowSeconds,
    lines: [columnLine(run, 0, column.name, column)],
    columns: [keyOf(column)],
  };
}

function drawnValues(run: Run, column: Column): Values {
  return drawn(column, run.values(column), run.rowSeconds, run.rowEnds);
}

/** The line of one column, with its extremes where its rows stand for several samples. */
function columnLine(run: Run, position: number, label: string, column: Column): Line {
  const values = drawnValues(run, column);
  const bounds = run.bounds(column);
  return { ...line(position, label, values), ...(bounds && { bounds: drawnBounds(column, values, bounds) }) };
}

/** The columns of these names in one scope as lines; those that there are not are left out. */
function columnPanelOf(run: Run, scope: string, entries: [name: string, label: string][]): Pick<Panel, "seconds" | "lines" | "columns"> {
  const found = entries.flatMap(([name, label]) => {
    const column = run.column(`${name}@${scope}`);
    return column && !column.unavailable ? [{ column, label }] : [];
  });
  return {
    seconds: run.rowSeconds,
    lines: found.map(({ column, label }, position) => columnLine(run, position, label, column)),
    columns: found.map(({ column }) => keyOf(column)),
  };
}

// --- the load engine's own intervals --------------------------------------------------------------------------------

/** Shorter windows have no rate: a drain may last a millisecond. Unit: seconds. */
const RATE_WINDOW_SECONDS = 0.1;

interface Stroke {
  label: string;
  hue: Hue;
  dash?: number[];
  of(moment: Moment): number | null;
  /** The name of its extremes, and what they are multiplied with. */
  extremes: string;
  factor?: number;
}

/** Values of windows as horizontal strokes, with gaps where there was no window. */
function strokes(run: Run, wanted: Stroke[]): Pick<Panel, "seconds" | "lines" | "columns"> {
  const seconds: number[] = [];
  const isCondensed = ({ extremes }: Stroke) => run.moments.some((moment) => moment.extremes[extremes]);
  const lines = wanted.map((stroke): Line => {
    const { label, hue, dash } = stroke;
    const bounds = isCondensed(stroke) && { bounds: { low: [], high: [] } };
    return { label, hue, values: [], ...(dash && { dash }), ...bounds };
  });
  let last: Moment | undefined;
  for (const moment of run.moments) {
    if (last && moment.begin > last.end + 0.05) {
      seconds.push(moment.begin);
      for (const { values, bounds } of lines) for (const each of [values, bounds?.low, bounds?.high]) each?.push(null);
    }
    seconds.push(moment.begin, moment.end);
    lines.forEach((each, position) => {
      const value = wanted[position]?.of(moment) ?? null;
      each.values.push(value, value);
      const { extremes = "", factor = 1 } = wanted[position] ?? {};
      const bounds = value === null ? undefined : moment.extremes[extremes];
      const [low, high] = bounds ? [bounds.low * factor, bounds.high * factor] : [value, value];
      each.bounds?.low.push(low, low);
      each.bounds?.high.push(high, high);
    });
    last = moment;
  }
  return { seconds, lines, columns: [] };
}

/** How many users there were; nothing where the load has none. */
function usersPanel(run: Run): Panel[] {
  if (!run.moments.some(({ users }) => users !== null)) return [];
  const drawn = strokes(run, [{ label: "users", hue: "a", of: ({ users }) => users, extremes: "users" }]);
  return [{ id: "panel-users", group: "Load", title: "Active users", unit: "count", ...drawn }];
}

function loadPanels(run: Run): Panel[] {
  const perSecond = (amount: (moment: Moment) => number | null) => (moment: Moment) => {
    const [value, length] = [amount(moment), moment.end - moment.begin];
    return value === null || length < RATE_WINDOW_SECONDS ? null : value / length;
  };
  return [
    {
      id: "panel-rate",
      group: "Load",
      title: "Rate",
      unit: "/s",
      ...strokes(run, [
        { label: "offered", hue: "neutral", dash: [4, 3], of: perSecond((moment) => moment.scheduled), extremes: "scheduled" },
        { label: "achieved", hue: "a", of: perSecond((moment) => moment.completed), extremes: "completed" },
      ]),
    },
    ...usersPanel(run),
    latencyPanel(run, "panel-latency"),
    failurePanel(run, perSecond),
    {
      id: "panel-in-flight",
      group: "Load",
      title: "In flight",
      unit: "count",
      ...strokes(run, [{ label: "requests", hue: "a", of: (moment) => moment.inFlight, extremes: "in_flight" }]),
    },
    {
      id: "panel-generator",
      group: "Load",
      title: "Generator's own CPU",
      unit: "%",
      unitText: "% of one CPU",
      ...strokes(run, [
        {
          label: "all threads",
          hue: "neutral",
          of: perSecond(({ cpu_ns }) => (cpu_ns === null ? null : cpu_ns / 1e7)),
          extremes: "cpu_ns",
          factor: 1e-7,
        },
      ]),
    },
  ];
}

/** Latency over time: the percentiles of each window over the cells of all its requests. */
export function latencyPanel(run: Run, id: string): Panel {
  const objective = objectiveOf(run.payload.plan)?.limit ?? null;
  return {
    id,
    group: "Load",
    title: "Latency",
    unit: "ns",
    unitText: "log scale",
    isLog: true,
    ...(run.heat && { heat: run.heat }),
    ...strokes(run, [
      { label: "p99", hue: "b", of: (moment) => moment.p99_ns, extremes: "p99_ns" },
      { label: "p50", hue: "ink", dash: [7, 3], of: (moment) => moment.p50_ns, extremes: "p50_ns" },
    ]),
    ...(objective !== null && { limit: { label: "objective", value: objective } }),
  };
}

/** Most classes of failures that have a colour of their own. */
const CLASSES_MAX = 3;

/** Failures over time by class, the most frequent at the bottom; without classes, all errors as one line. */
function failurePanel(run: Run, perSecond: (amount: (moment: Moment) => number | null) => Stroke["of"]): Panel {
  const about = { id: "panel-errors", group: "Load", title: "Failed and timed out", unit: "/s" };
  const totals = new Map<string, number>();
  for (const { failures } of run.moments) for (const [name, many] of Object.entries(failures)) totals.set(name, (totals.get(name) ?? 0) + many);
  const ranked = [...totals].filter(([, many]) => many > 0).sort(([, one], [, other]) => other - one).map(([name]) => name);
  if (ranked.length === 0) {
    return { ...about, ...strokes(run, [{ label: "errors", hue: "b", of: perSecond((moment) => moment.errors), extremes: "errors" }]) };
  }
  const [shown, rest] = [ranked.slice(0, CLASSES_MAX), ranked.slice(CLASSES_MAX)];
  const parts: [string, (moment: Moment) => number][] = [
    ...shown.map((name): [string, (moment: Moment) => number] => [name, ({ failures }) => failures[name] ?? 0]),
    ["other classes", ({ failures }) => rest.reduce((sum, name) => sum + (failures[name] ?? 0), 0)],
    ["timed out", ({ timedOut }) => timedOut],
  ];
  const seen = parts.filter(([, of]) => run.moments.some((moment) => of(moment) > 0));
  const hues: Hue[] = ["b", "a", "c", "d", "neutral"];
  const wanted = seen.map(([label, of], position): Stroke => ({ label, hue: hues[position] ?? "neutral", of: perSecond(of), extremes: "" }));
  return { ...about, ...strokes(run, wanted), isStacked: true };
}

// --- the server's processes and its listening sockets ---------------------------------------------------------------

/** The scopes of a column, those whose values grew or reached most first, in the order of the record. */
function greatestScopes(run: Run, name: string, most: number): string[] {
  const ranked = run.columnsOf(name).filter((column) => !column.unavailable);
  const size = (column: Column) =>
    column.kind === "counter"
      ? growth(run.values(column))
      : run.values(column).reduce<number>((greatest, value) => Math.max(greatest, value ?? 0), 0);
  const sizes = new Map(ranked.map((column) => [column, size(column)]));
  const kept = new Set([...ranked].sort((one, other) => (sizes.get(other) ?? 0) - (sizes.get(one) ?? 0)).slice(0, most));
  return ranked.filter((column) => kept.has(column)).map((column) => column.scope);
}

function serverPanels(run: Run): Panel[] {
  // Where no load was sent, every process that uses CPU is of interest.
  const { plan } = run.payload;
  const isWatch = plan !== null && "watch" in plan;
  const commands = new Map<string, string>();
  for (const { event } of run.payload.events) {
    if (event.kind === "watched" && (event.role === "target" || (isWatch && event.role === "foreign"))) commands.set(`process:${event.pid}`, event.command);
  }
  const scopes = greatestScopes(run, "process.cpu_us", MOST.processes).filter((scope) => commands.has(scope));
  const label = (scope: string) => `${scope.replace("process:", "")} ${commands.get(scope)}`;
  const perProcess = (id: string, title: string, name: string): Panel => {
    const columns = scopes.flatMap((scope) => run.column(`${name}@${scope}`) ?? []).filter((column) => !column.unavailable);
    const first = columns[0];
    return {
      id,
      group: "Server",
      title,
      unit: first ? drawnUnit(first).unit : "count",
      seconds: run.rowSeconds,
      lines: columns.map((column, position) => columnLine(run, position, label(column.scope), column)),
      columns: columns.map(keyOf),
    };
  };
  const fds = perProcess("panel-fds", "Open descriptors", "process.fds_count");
  const limits = scopes.flatMap((scope) => run.columnsOf("process.fds_limit_count").filter((column) => column.scope === scope));
  const least = limits.flatMap((column) => run.values(column)).reduce<number>((low, value) => Math.min(low, value ?? low), Infinity);
  return [
    { ...perProcess("panel-process-cpu", "CPU used", "process.cpu_us"), unitText: "% of one CPU" },
    { ...perProcess("panel-run-delay", "Waiting for a CPU", "process.run_delay_us"), unitText: "% of the time, threads added up" },
    { ...perProcess("panel-garbage", "Stopped to collect garbage", "jvm.paused_us"), unitText: "% of the time" },
    ...listenerPanels(run),
    { ...fds, ...(Number.isFinite(least) && { limit: { label: "limit", value: least } }) },
    perProcess("panel-rss", "Resident memory", "process.rss_bytes"),
  ];
}

function listenerPanels(run: Run): Panel[] {
  return greatestScopes(run, "listener.queue_count", MOST.listeners).map((scope) => {
    const limit = run.column(`listener.limit_count@${scope}`);
    const value = limit ? run.values(limit).reduce<number>((greatest, each) => Math.max(greatest, each ?? 0), 0) : 0;
    return {
      id: `panel-${scope}`,
      group: "Server",
      title: `Accept queue of ${scope.replace("listener:", "")}`,
      unit: "count",
      ...columnPanelOf(run, scope, [["listener.queue_count", "waiting"]]),
      ...(value > 0 && { limit: { label: "limit", value } }),
    };
  });
}

// --- processors -----------------------------------------------------------------------------------------------------

const CPU_STATES: { label: string; names: string[] }[] = [
  { label: "user", names: ["cpu.user_us", "cpu.nice_us"] },
  { label: "system", names: ["cpu.system_us"] },
  { label: "softirq", names: ["cpu.softirq_us", "cpu.irq_us"] },
  { label: "steal", names: ["cpu.steal_us"] },
];

function cpuPanels(run: Run): Panel[] {
  const scopes = run.columnsOf("cpu.user_us").map((column) => column.scope);
  const busy = new Map(scopes.map((scope) => [scope, busyGrowth(run, scope)]));
  const busiest = new Set([...scopes].sort((one, other) => (busy.get(other) ?? 0) - (busy.get(one) ?? 0)).slice(0, MOST.cpus));
  const panels: Panel[] = scopes
    .filter((scope) => busiest.has(scope))
    .map((scope) => ({
      id: `panel-${scope}`,
      group: "Processors",
      title: scope.replace("cpu:", "CPU "),
      unit: "%",
      seconds: run.rowSeconds,
      lines: CPU_STATES.flatMap(({ label, names }, position) => {
        const columns = names.flatMap((name) => run.column(`${name}@${scope}`) ?? []).filter((column) => !column.unavailable);
        if (columns.length === 0) return [];
        const { hue } = line(position, label, []);
        return [{ label, hue, values: sum(columns.map((column) => drawnValues(run, column))) }];
      }),
      ...peak(run, scope),
      isStacked: true,
      top: 100,
      unitText: "% of the CPU",
      columns: [...CPU_STATES.flatMap(({ names }) => names), "cpu.idle_us", "cpu.iowait_us"].map((name) => `${name}@${scope}`),
    }));
  const first = panels[0];
  if (first && scopes.length > panels.length) first.note = `the ${panels.length} busiest of ${scopes.length} CPUs`;
  const queue: Panel = {
    id: "panel-run-queue",
    group: "Processors",
    title: "Runnable threads",
    unit: "count",
    ...columnPanelOf(run, "host", [["kernel.running_count", "running or waiting"]]),
    limit: { label: "CPUs", value: Math.max(scopes.length, 1) },
  };
  return [queue, ...stripPanels(run), ...panels];
}

/** The most that a CPU was busy, where its rows stand for several samples: what its least idle sample left. */
function peak(run: Run, scope: string): Pick<Panel, "peak"> {
  const idle = run.column(`cpu.idle_us@${scope}`);
  const bounds = idle && run.bounds(idle);
  if (!idle || !bounds) return {};
  const { low } = drawnBounds(idle, drawnValues(run, idle), bounds);
  return { peak: { label: "busiest", values: low.map((value) => (value === null ? null : Math.max(0, 100 - value))) } };
}

function busyGrowth(run: Run, scope: string): number {
  const columns = CPU_STATES.flatMap(({ names }) => names).flatMap((name) => run.column(`${name}@${scope}`) ?? []);
  return columns.reduce((total, column) => total + growth(run.values(column)), 0);
}

// --- network, memory, disks -----------------------------------------------------------------------------------------

function networkPanels(run: Run): Panel[] {
  const links = greatestScopes(run, "netdev.tx_bytes", MOST.interfaces).map(
    (scope): Panel => ({
      id: `panel-${scope}`,
      group: "Network",
      title: scope.replace("netdev:", ""),
      unit: "bytes/s",
      ...columnPanelOf(run, scope, [
        ["netdev.tx_bytes", "sent"],
        ["netdev.rx_bytes", "received"],
      ]),
    }),
  );
  const drops = run.columnsOf("softnet.dropped_count").filter((column) => !column.unavailable);
  return [
    {
      id: "panel-tcp",
      group: "Network",
      title: "TCP trouble",
      unit: "/s",
      ...columnPanelOf(run, "netns:target", [
        ["Tcp.RetransSegs", "retransmits"],
        ["TcpExt.ListenOverflows", "accept overflows"],
        ["TcpExt.TCPReqQFullDrop", "SYN queue full"],
        ["TcpExt.TCPTimeouts", "timeouts"],
      ]),
    },
    ...links,
    {
      id: "panel-softnet",
      group: "Network",
      title: "Packets dropped before TCP",
      unit: "/s",
      seconds: run.rowSeconds,
      lines: drops.length > 0 ? [line(0, "all CPUs", sum(drops.map((column) => drawnValues(run, column))))] : [],
      columns: drops.map(keyOf),
    },
  ];
}

function hostPanels(run: Run): Panel[] {
  const total = run.column("memory.total_bytes@host");
  const size = total ? run.values(total).find((value) => value !== null) : null;
  const disks = greatestScopes(run, "disk.io_ms", MOST.disks).filter((scope) => {
    const column = run.column(`disk.io_ms@${scope}`);
    return column !== undefined && isMoving(column);
  });
  return [
    {
      id: "panel-psi",
      group: "Memory and disks",
      title: "Some task was stalled by",
      unit: "%",
      ...columnPanelOf(run, "host", [
        ["psi.cpu_some_us", "CPU"],
        ["psi.io_some_us", "disks"],
        ["psi.memory_some_us", "memory"],
      ]),
    },
    {
      id: "panel-memory",
      group: "Memory and disks",
      title: "Memory available",
      unit: "bytes",
      ...columnPanelOf(run, "host", [["memory.available_bytes", "available"]]),
      ...(size && { limit: { label: "installed", value: size } }),
    },
    ...disks.flatMap((scope): Panel[] => [
      {
        id: `panel-${scope}`,
        group: "Memory and disks",
        title: `${scope.replace("disk:", "")} traffic`,
        unit: "bytes/s",
        ...columnPanelOf(run, scope, [
          ["disk.written_bytes", "written"],
          ["disk.read_bytes", "read"],
        ]),
      },
      {
        id: `panel-${scope}-busy`,
        group: "Memory and disks",
        title: `${scope.replace("disk:", "")} busy`,
        unit: "%",
        ...columnPanelOf(run, scope, [["disk.io_ms", "busy"]]),
      },
    ]),
  ];
}
