import { readFileSync } from 'node:fs'
import { Type } from 'typebox'
import { Check } from 'typebox/value'

/** Written by `npm start`. */
export const demoFile = '.data/demo.json'

/** The fields of the file that are needed here. */
const Demo = Type.Object({
  baseUrl: Type.String(),
  workspaceId: Type.String(),
  token: Type.String(),
  webhook: Type.Object({ provider: Type.String(), secretId: Type.String(), secret: Type.String() }),
})

/** @returns undefined if there is no demo */
export function readDemo(): Type.Static<typeof Demo> | undefined {
  let demo: unknown
  try {
    demo = JSON.parse(readFileSync(demoFile, 'utf8'))
  } catch {
    return undefined
  }
  return Check(Demo, demo) ? demo : undefined
}
