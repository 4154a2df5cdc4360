import type { z } from 'zod'
import { OwnError } from '#domain/own-error.ts'
import { Rejection } from '#domain/rejection.ts'
import type { OrganisationId } from '#domain/values.ts'
import type { Context } from '../writing/handle.ts'

/** One thing that a set-up file declares, held against what there is. */
export type SetupStep = {
  /** For example `product term-life`. */
  readonly what: string
  readonly change: 'create' | 'change' | 'none'
  /** The changes in words, for the plan that is shown first. */
  readonly details: readonly string[]
  /** True where an organisation asks for a second user for it: applied, it is proposed. */
  readonly waits?: boolean
  /** Throws `Proposed`, or `WaitsForOther`, where it could not be done yet. */
  readonly apply: () => Promise<void>
  /** Made secrets by name, shown once, after it was applied. */
  readonly secrets?: Readonly<Record<string, string>>
}

/** Thrown by a step that cannot be done before something else of the file is approved. */
export class WaitsForOther extends OwnError {
  override readonly name = 'WaitsForOther'
}

export type SetupContext = {
  readonly organisation_id: OrganisationId
  /** The organisation's currency, for what does not name its own. */
  readonly currency_code: string
  readonly time_zone: string
  /** True where sales are paid through its account of the mode test, for a product that does not say so itself. */
  readonly stripe_test_mode: boolean
  readonly context: Context
  /** Says that a declared value cannot be used, with its path within the section (`[2, 'covers', 0, 'rate_table']`). */
  readonly refuse: (path: readonly PropertyKey[], reason: string) => never
  /** The same, but the section is looked through to its end, so that all that is wrong is said at once. */
  readonly report: (
    path: readonly PropertyKey[],
    reason: string,
    /** The number of faults that it stands for; 1 by default. */
    count?: number,
  ) => void
  /** Says that a secret that the file only names is not there. However many they are, each is told. */
  readonly lacks: (path: readonly PropertyKey[], name: string) => void
  /** The file's list for the organisation at the key of another section, unchanged. */
  readonly declared: (key: string) => readonly unknown[]
  /** The text of a file that the set-up file names; undefined when it was not sent along. */
  readonly file: (name: string) => string | undefined
  /** The bytes of a file that the set-up file names; undefined when it was not sent along. */
  readonly bytes: (name: string) => Buffer | undefined
  /** A secret that the file leaves out: the one that the sender has made up for this step and shown already, or a new one. */
  readonly makeSecret: (what: string, name: string) => string
}

/** An organisation whose set-up is exported. */
export type SetupOwner = {
  readonly organisation_id: OrganisationId
  /** Puts a file beside the set-up file, and answers its name. */
  readonly addFile: (name: string, content: string | Buffer) => string
  /** Notes that the export tells of this person. */
  readonly shows: (id: string) => void
}

/** The part of a set-up file that one capability understands: the list at `key` of an organisation. */
export type SetupSection<Declared = never> = {
  readonly key: string
  /** The schema of one item of the list. */
  readonly schema: z.ZodType<Declared>
  /** Compares, and changes nothing. */
  readonly plan: (declared: readonly Declared[], setup: SetupContext) => Promise<readonly SetupStep[]>
  /**
   * The list as a file declares it: applied, it changes nothing. Always in the same order, and without secrets. Undefined where
   * there is nothing to declare.
   */
  readonly exported: (owner: SetupOwner) => Promise<readonly unknown[] | undefined>
}

/** Any section: its plan gets a value that has passed its own schema. */
export type AnySetupSection = Omit<SetupSection, 'schema'> & { readonly schema: z.ZodType }

/** All that a file can say of a thing. Each part has to be named, so that none is forgotten where it is exported. */
export type Whole<Written> = { readonly [Name in keyof Required<Written>]: Written[Name] }

/** A list in the order of a text, which is the same on every machine; undefined where it is empty. */
export const inOrderOf = <Item>(
  items: readonly Item[],
  textOf: (item: Item) => string,
): readonly Item[] | undefined => {
  const keyed = items.map((item) => [textOf(item), item] as const)
  const sorted = keyed.toSorted(([one], [other]) => (one < other ? -1 : one > other ? 1 : 0))
  return sorted.length === 0 ? undefined : sorted.map(([, item]) => item)
}

/** Reports a list that is there for the sake of one item, and has none or more. */
export const reportUnlessOne = (
  { report }: Pick<SetupContext, 'report'>,
  items: readonly unknown[],
  reason: string,
): void => {
  if (items.length !== 1) report(items.length === 0 ? [] : [1], reason)
}

/** Reports at a place of the file what the model refuses; undefined then. */
export const reportRefusal = async <Result>(
  { report }: Pick<SetupContext, 'report'>,
  path: readonly PropertyKey[],
  decide: () => Promise<Result>,
): Promise<Result | undefined> => {
  try {
    return await decide()
  } catch (error) {
    if (!(error instanceof Rejection)) throw error
    // “Send the request again” is for requests: in a file each field has a line of its own.
    const fields = /^Correct .+ and send the request again\.$/.test(error.message) ? (error.fields ?? {}) : {}
    for (const [field, reason] of Object.entries(fields)) report([...path, ...keysOf(field)], reason)
    if (Object.keys(fields).length === 0) report(path, error.message)
    return undefined
  }
}

/** `endpoints[0].path` is `endpoints`, 0, `path`. */
const keysOf = (field: string): readonly PropertyKey[] =>
  field
    .split(/[.[\]]+/)
    .filter((key) => key !== '')
    .map((key) => (/^\d+$/.test(key) ? Number(key) : key))
