import { z } from 'zod'
import { plainWords } from '#domain/reasons.ts'
import type { SetupContext } from './section.ts'

/** In place of a secret, as it is exported: names it, and leaves as it is the one that is held. */
const MissingSecret = z.strictObject({ missing: z.string().min(1).max(500) })
export type MissingSecret = z.output<typeof MissingSecret>

/** A secret of a set-up file, or the name of one that is not in it. */
export const orMissing = <Secret extends z.ZodType>(secret: Secret) =>
  z.custom<z.input<Secret> | MissingSecret>().transform((given, context): z.output<Secret> | MissingSecret => {
    const isNamed = typeof given === 'object' && given !== null
    const { success, data, error } = (isNamed ? MissingSecret : secret).safeParse(given, { error: plainWords })
    if (success) return data
    for (const { path, message } of error.issues) context.addIssue({ code: 'custom', path: [...path], message })
    return z.NEVER
  })

export const isMissing = (given: unknown): given is MissingSecret =>
  typeof given === 'object' && given !== null && 'missing' in given

/** The secret that a file gives; undefined where it names one that is kept as it is. */
export const givenSecret = <Secret>(secret: Secret | MissingSecret): Secret | undefined =>
  isMissing(secret) ? undefined : secret

/** Reports each secret of a thing that the file only names, and that is not held. True where there is one. */
export const reportMissing = (
  { lacks }: Pick<SetupContext, 'lacks'>,
  path: readonly PropertyKey[],
  secrets: Readonly<Record<string, unknown>>,
  isHeld: Readonly<Record<string, boolean>>,
): boolean => {
  const lacking = Object.entries(secrets).filter(([field]) => isHeld[field] !== true)
  const named = lacking.filter((each): each is [string, MissingSecret] => isMissing(each[1]))
  for (const [field, { missing: name }] of named) lacks([...path, field], name)
  return named.length > 0
}

/** True where a secret that is held would go on to where it goes now: anywhere else it must be given. */
export const isSameDestination = <Field extends string>(
  held: Readonly<Partial<Record<Field, unknown>>> | undefined,
  given: Readonly<Partial<Record<Field, unknown>>>,
  fields: readonly Field[],
): boolean => held !== undefined && fields.every((field) => (held[field] ?? null) === (given[field] ?? null))

/** The name of a secret in an export: by the section, and by what tells the things of the section apart. */
export const missing = (...names: readonly string[]): MissingSecret => ({ missing: names.join('.') })
