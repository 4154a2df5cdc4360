import { z } from 'zod'
import { plainWords, reasonsOf, unknownKey } from '#domain/reasons.ts'
import { unknownKeysOf } from '#infra/http/unknown-keys.ts'
import { unusableTexts } from '#infra/http/unusable-texts.ts'
import { DeclaredOrganisation } from '../access/schemas.ts'
import type { AnySetupSection } from './section.ts'

type Path = readonly PropertyKey[]
type Section = Pick<AnySetupSection, 'key' | 'schema'>
export type Report = (path: Path, reason: string, count?: number) => void
type Fault = { readonly path: Path; readonly reason: string }

/** An organisation as a file declares it. What does not fit its schema is undefined. */
export type DeclaredEntry = {
  readonly index: number
  readonly organisation: z.output<typeof DeclaredOrganisation> | undefined
  /** Items by the keys of the sections that stand in the file. */
  readonly items: ReadonlyMap<string, readonly unknown[] | undefined>
  /** As it was written. */
  readonly written: Readonly<Record<string, unknown>>
}

/** A file's declarations, and its faults whatever there is already. */
export type Declared = Faults & { readonly entries: readonly DeclaredEntry[] }

/** The first things that are wrong, how many there are, and whether there are others. */
export type Faults = { readonly faults: readonly Fault[]; readonly count: number; readonly isCut: boolean }

/** More are not told: whoever has made so many wrong has made one mistake, and an answer stays one that can be read. */
const mostFaults = 100

export const faultCollector = (most = mostFaults): Faults & { readonly report: Report } => {
  const faults: Fault[] = []
  let count = 0
  let isCut = false
  return {
    faults,
    get count() {
      return count
    },
    get isCut() {
      return isCut
    },
    report: (path, reason, several = 1) => {
      count += several
      if (faults.length < most) faults.push({ path, reason })
      else isCut = true
    },
  }
}

/** Holds what a file holds against the schemas: for a long file, a work of seconds. */
export const declaredOf = (content: unknown, sections: readonly Section[]): Declared => {
  const found = faultCollector()
  for (const [path, reason] of unusableTexts(content)) found.report(path, reason)
  const entries = entriesOf(content, sections, found.report)
  const { faults, count, isCut } = found
  return { entries, faults, count, isCut }
}

/** Separates the organisation's own keys from those of the sections; unknown keys are reported. */
const entriesOf = (content: unknown, sections: readonly Section[], report: Report): readonly DeclaredEntry[] => {
  const file = parsePart(
    z.strictObject({ organisations: z.array(z.record(z.string(), z.unknown())).min(1) }),
    content,
    [],
    report,
  )
  const sectionKeys = sections.map(({ key }) => key)
  const known = [...Object.keys(DeclaredOrganisation.shape), ...sectionKeys]
  const first = new Map<unknown, number>()

  return (file?.organisations ?? []).map((written, index) => {
    const at = ['organisations', index] as const
    for (const key of Object.keys(written))
      if (!known.includes(key)) report([...at, key], `is not known; there are ${known.join(', ')}`)
    for (const name of ['slug', 'id']) {
      const earlier = first.get(written[name])
      if (written[name] === undefined) continue
      if (earlier === undefined) first.set(written[name], index)
      else report([...at, name], `is that of organisations[${earlier}]`)
    }
    const own = Object.fromEntries(Object.entries(written).filter(([key]) => !sectionKeys.includes(key)))
    const named = sections.filter(({ key }) => Object.hasOwn(written, key))
    return {
      index,
      organisation: parsePart(DeclaredOrganisation, own, at, report),
      items: new Map(named.map((section) => [section.key, itemsOf(section, written[section.key] ?? [], at, report)])),
      written,
    }
  })
}

const itemsOf = ({ key, schema }: Section, declared: unknown, at: Path, report: Report) => {
  reportUnknownKeys(schema, declared, [...at, key], report)
  return parsePart(z.array(schema), declared, [...at, key], report)
}

const parsePart = <Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  at: Path,
  report: Report,
): z.output<Schema> | undefined => {
  const { success, data, error } = schema.safeParse(value, { error: plainWords })
  if (success) return data
  for (const { path, reason } of reasonsOf(error.issues))
    report([...at, ...path], reason === 'required' ? 'is missing' : reason)
  return undefined
}

/** A misspelt key would leave its default in force. */
const reportUnknownKeys = (schema: z.ZodType, declared: unknown, at: Path, report: Report): void => {
  if (!Array.isArray(declared)) return
  for (const [index, item] of declared.entries())
    for (const { path, known } of unknownKeysOf(schema, item)) report([...at, index, ...path], unknownKey(known))
}
