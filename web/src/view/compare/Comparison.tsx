// Runs side by side: the word and its interval on the first screen, then why, then every number.

import type { Comparison as Compared, ExperimentShown, GateOutcome } from "../../record/comparison.ts";
import { prose } from "../../record/text.ts";
import { WordBadge } from "../Forest.tsx";
import { Frame, type Part } from "../Frame.tsx";
import { Forests } from "./Forests.tsx";
import { Hosts } from "./Hosts.tsx";
import { Machines } from "./Machines.tsx";
import { Curves, hasCurve, Variants } from "./Variants.tsx";
import { Numbers } from "./Numbers.tsx";
import { ProfileDifference } from "./ProfileDifference.tsx";
import { Sides } from "./Sides.tsx";
import { TrendChart } from "./Trend.tsx";
import { hasUsers, Users } from "./Users.tsx";
import { UsersChart } from "./UsersChart.tsx";

/** Gates on the first screen; all of them stand further below. */
const GATES_MAX = 3;

function partsOf(compared: Compared): Part[] {
  const parts: (Part | false)[] = [
    compared.trend !== undefined && { id: "trend", title: "Runs over time", short: "Trend", body: <TrendChart trend={compared.trend} /> },
    compared.matrix !== undefined &&
      hasUsers(compared.matrix) && { id: "users", title: "Users and their rules", short: "Users", body: <Users compared={compared} experiment={compared.matrix} /> },
    compared.hosts !== undefined && { id: "hosts", title: "The machines", short: "Hosts", body: <Hosts compared={compared} shown={compared.hosts} /> },
    compared.matrix !== undefined && { id: "variants", title: "Bottleneck of each variant", short: "Variants", body: <Variants compared={compared} experiment={compared.matrix} /> },
    compared.matrix !== undefined &&
      hasCurve(compared.matrix) && { id: "curves", title: "Every trial of every variant", short: "Curves", body: <Curves compared={compared} experiment={compared.matrix} /> },
    compared.operations.length > 0 && { id: "numbers", title: "All numbers", short: "Numbers", body: <Numbers compared={compared} /> },
    compared.profiles !== undefined && { id: "profiles", title: "Where the CPU time differs", short: "Profiles", body: <ProfileDifference profiles={compared.profiles} /> },
    compared.gates.length > 0 && { id: "gates", title: "Obstacles to a comparison", short: "Gates", body: <Gates compared={compared} /> },
    compared.machines.length > 0 && { id: "machines", title: "What differs between the machines", short: "Machines", body: <Machines compared={compared} /> },
    { id: "sides", title: "The runs", short: "Runs", body: <Sides compared={compared} /> },
  ];
  return parts.filter((part) => part !== false);
}

function trialsOf(experiment: ExperimentShown): string {
  const again = experiment.repeated_count > 0 ? `, ${experiment.repeated_count} repeated because they were disturbed` : "";
  return `${experiment.measured_count} of ${experiment.planned_count} trials${again}`;
}

export function Comparison({ compared }: { compared: Compared }) {
  const masthead = (
    <header class="masthead">
      <p class="wordmark">sysdyno</p>
      <p class="subject">{compared.matrix?.name ?? compared.hosts?.experiment ?? compared.sides.map((side) => side.runs[0]?.id ?? side.name).join(" · ")}</p>
      <p class="when">{compared.matrix ? trialsOf(compared.matrix) : compared.hosts ? "comparison of machines" : "comparison of runs"}</p>
    </header>
  );
  const command = compared.hosts ? "experiment import" : compared.matrix ? "experiment" : "compare";
  const colophon = `Made by sysdyno ${command}. This page is self-contained: it needs no network and sends no data.`;
  return <Frame masthead={masthead} answer={<Result compared={compared} />} parts={partsOf(compared)} colophon={colophon} />;
}

function Result({ compared }: { compared: Compared }) {
  return (
    <section id="result" class="answer" aria-labelledby="headline" tabIndex={-1}>
      <p class="verdict-line">
        <Answer compared={compared} />
      </p>
      <h1 id="headline">{prose(compared.headline)}</h1>
      <Against gates={compared.gates} compared={compared} />
      {compared.matrix && hasUsers(compared.matrix) ? <UsersChart compared={compared} experiment={compared.matrix} /> : <Forests compared={compared} />}
      {compared.limits.length > 0 && (
        <ul class="limits quiet">
          {compared.limits.map((limit) => (
            <li key={limit}>{prose(limit)}.</li>
          ))}
        </ul>
      )}
    </section>
  );
}

function Answer({ compared }: { compared: Compared }) {
  const { sides } = compared;
  const refused = sides.filter((side) => side.is_refused).length;
  const without = compared.operations.filter(({ metrics }) => metrics.every(({ effects }) => effects.length === 0)).length;
  if (compared.hosts && compared.is_refused && without > 0 && without < compared.operations.length) {
    return (
      <>
        <span class="badge badge-invalid">
          <span aria-hidden="true">✘</span> {without} OF {compared.operations.length} VARIANTS NOT COMPARED
        </span>{" "}
        <span class="quiet">their numbers are shown, without a difference</span>
      </>
    );
  }
  if (compared.is_refused) {
    const isPart = refused < sides.length - 1 && !sides[0]?.is_refused;
    return (
      <>
        <span class="badge badge-invalid">
          <span aria-hidden="true">✘</span> {isPart ? `${refused} OF ${sides.length} NOT COMPARED` : "NOT COMPARED"}
        </span>{" "}
        <span class="quiet">{isPart ? "their numbers are shown" : "both numbers are shown"}, without a difference</span>
      </>
    );
  }
  const [only, ...others] = compared.verdicts;
  if (!only || others.length > 0) return <span class="quiet">compared {compared.trend ? "from run to run" : "with side A"}</span>;
  return (
    <>
      <WordBadge verdict={only.verdict} /> <span class="quiet">{prose(only.verdict.capped_by.join("; "))}</span>
    </>
  );
}

const MARKS = { refused: "✘", bounded: "▲", allowed: "▲", warned: "▲" };
const WEIGHTS = { refused: "refuses", bounded: "leaves bounds", allowed: "allowed by --allow", warned: "warning" };

function Against({ gates, compared }: { gates: readonly GateOutcome[]; compared: Compared }) {
  if (gates.length === 0) return null;
  const hidden = gates.length - GATES_MAX;
  return (
    <ul class="reasons-short">
      {gates.slice(0, GATES_MAX).map((gate, position) => (
        <li key={position}>
          <strong>
            {MARKS[gate.severity]} {gate.id}
          </strong>{" "}
          {gate.severity === "allowed" && "allowed: "}
          {prose(gate.text)}
        </li>
      ))}
      {hidden > 0 && (
        <li>
          <a href="#gates">
            and {hidden} more {compared.is_refused ? "reason" : "warning"}
            {hidden > 1 && "s"}
          </a>
        </li>
      )}
    </ul>
  );
}

function Gates({ compared }: { compared: Compared }) {
  return (
    <ul class="reasons">
      {compared.gates.map((gate, position) => (
        <li key={position}>
          <p class="reason-head">
            <span class={`badge badge-${gate.severity === "refused" ? "invalid" : "suspect"}`}>
              <span aria-hidden="true">{MARKS[gate.severity]}</span> {WEIGHTS[gate.severity]}
            </span>{" "}
            <code>{gate.id}</code>{" "}
            <span class="quiet">
              {gate.name}
              {compared.trend === undefined && `, side ${compared.sides[gate.side]?.letter}`}
            </span>
          </p>
          <p>{prose(gate.text)}</p>
          <p class="remedy">{prose(gate.remedy)}</p>
        </li>
      ))}
    </ul>
  );
}
