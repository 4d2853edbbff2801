/** What each benchmark's scenarios have. */
export interface Scenario {
  name: string
  /** Each number is one measurement. */
  connections: number[]
}

/** A scenario at one number of connections. */
export interface Measurement<Kind extends Scenario = Scenario> {
  /** What `--only` looks at. */
  label: string
  scenario: Kind
  connections: number
}

/**
 * The measurements with a text in their label. One whole label means that one alone: "… @1" is also the beginning of
 * "… @128".
 *
 * @throws Error where there is none
 */
export function chooseMeasurements<Kind extends Scenario>(
  scenarios: Kind[],
  only: string,
): Measurement<Kind>[] {
  const all = listMeasurements(scenarios)
  const exact = all.filter(({ label }) => label === only)
  const chosen = exact.length > 0 ? exact : all.filter(({ label }) => label.includes(only))
  if (chosen.length === 0) throw new Error(`--only ${only} is in no label`)
  return chosen
}

function listMeasurements<Kind extends Scenario>(scenarios: Kind[]): Measurement<Kind>[] {
  return scenarios.flatMap((scenario) =>
    scenario.connections.map((connections) => ({
      label: `${scenario.name} @${connections}`,
      scenario,
      connections,
    })),
  )
}
