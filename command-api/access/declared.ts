import { Rejection } from '#domain/rejection.ts'
import type { SetupStep } from '../setup-file/section.ts'

/** `allowed_origins[0]` → `['allowed_origins', 0]`. */
const pathOf = (field: string): PropertyKey[] =>
  field
    .split(/[.[\]]+/)
    .filter((part) => part !== '')
    .map((part) => (/^\d+$/.test(part) ? Number(part) : part))

type Say<Result> = (path: readonly PropertyKey[], reason: string) => Result

/** Says what the model refuses of the place in the file that declares it. */
export const orSay = async <Result, Said>(say: Say<Said>, decide: () => Promise<Result>): Promise<Result | Said> => {
  try {
    return await decide()
  } catch (error) {
    if (!(error instanceof Rejection)) throw error
    const [field, reason] = Object.entries(error.fields ?? {})[0] ?? ['', error.message]
    return say(pathOf(field), reason)
  }
}

/** `name: "Old" → "New"` for each of these fields that differs. */
export const differences = <Fields extends object>(
  before: Fields,
  after: Fields,
  names: readonly (keyof Fields & string)[],
): readonly string[] =>
  names
    .map((name) => [name, JSON.stringify(before[name]), JSON.stringify(after[name])] as const)
    .filter(([, old, fresh]) => old !== fresh)
    .map(([name, old, fresh]) => `${name}: ${old} → ${fresh}`)

export const unchanged = (what: string): SetupStep => ({
  what,
  change: 'none',
  details: [],
  apply: async () => undefined,
})
