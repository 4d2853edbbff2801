/** The common fields of all scenarios. */
export interface Scenario {
  name: string
  /** Numbers of connections; each is one measurement. */
  connections: number[]
}

/** A scenario with one number of connections. */
export interface Measurement<Kind extends Scenario = Scenario> {
  /** The text that `--only` selects by. */
  label: string
  scenario: Kind
  connections: number
}

/**
 * The measurements whose label contains a text. A complete label or name selects only that one: "… @1" is also the beginning of
 * "… @128", and "sync" a part of "async".
 *
 * @throws Error if there is none
 */
export function chooseMeasurements<Kind extends Scenario>(
  scenarios: Kind[],
  only: string,
): Measurement<Kind>[] {
  const all = listMeasurements(scenarios)
  const exact = all.filter(({ label, scenario }) => label === only || scenario.name === only)
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
