import { z } from 'zod'
import { plainWords, reasonsOf, unknownKey } from '#domain/reasons.ts'
import { Slug } from '#domain/values.ts'
import { generateSecret } from '#infra/crypto/secret-hash.ts'
import { inputPath, Problem, problemOf } from '#infra/http/problem.ts'
import { route, type RequestFacts, type Route } from '#infra/http/route.ts'
import { unknownKeysOf } from '#infra/http/unknown-keys.ts'
import { unusableTexts } from '#infra/http/unusable-texts.ts'
import type { organisationPlanner } from './access/organisation-setup.ts'
import { DeclaredOrganisation } from './access/schemas.ts'
import { operatorActor } from './operator.ts'
import { withSetupFile, type SetupFile } from './read-setup-file.ts'
import type { SetupFault } from './setup-file.ts'
import type { AnySetupSection, SetupContext, SetupStep } from './setup-section.ts'

type Deps = {
  readonly planOrganisation: ReturnType<typeof organisationPlanner>
  /** In the order in which they are applied: what others rest on comes first. */
  readonly sections: readonly AnySetupSection[]
}

type Path = readonly PropertyKey[]
type Report = (path: Path, reason: string, count?: number) => void
type PlannedStep = SetupStep & { readonly organisation: string }

/** Leaves a part of the file whose fault was reported. */
class Refused extends Error {
  override readonly name = 'Refused'
}

/** Holds a set-up file against what there is. Says all that is wrong with it; changes nothing. */
export const setupPlanner = ({ planOrganisation, sections }: Deps) => {
  const planEntry = async (
    entry: Entry,
    { files, binaryFiles, madeSecrets }: Pick<SetupFile, 'files' | 'binaryFiles' | 'madeSecrets'>,
    report: Report,
    facts: RequestFacts,
  ): Promise<readonly PlannedStep[]> => {
    const at = ['organisations', entry.index] as const
    const refuseAt = (path: Path) => (inner: Path, reason: string) => {
      report([...path, ...inner], reason)
      throw new Refused(reason)
    }
    const context = {
      actor: operatorActor(facts),
      correlation_id: facts.request_id,
      now: facts.now,
    } as const

    const declared = parsePart(DeclaredOrganisation, entry.organisation, at, report)
    const parts = sections.map((section) => {
      const path = [...at, section.key]
      reportUnknownKeys(section, entry.declared(section.key), path, report)
      return { section, path, items: parsePart(z.array(section.schema), entry.declared(section.key), path, report) }
    })
    if (!declared) return []
    const planned = await unlessRefused(() => planOrganisation(declared, context, refuseAt(at)))
    if (!planned) return []

    const { organisation_id, details, step } = planned
    const steps: SetupStep[] = [step]
    for (const { section, path, items } of parts) {
      if (!items || !entry.names(section.key)) continue
      const setup: SetupContext = {
        organisation_id,
        ...details,
        context: { ...context, organisation_id },
        refuse: refuseAt(path),
        report: (inner, reason, count) => report([...path, ...inner], reason, count),
        declared: (other) => z.array(z.unknown()).safeParse(entry.declared(other)).data ?? [],
        file: (name) => files.get(name),
        bytes: (name) => binaryFiles.get(name) ?? bufferOf(files.get(name)),
        makeSecret: (what, name) => madeSecrets.get(`${declared.slug}: ${what}`)?.[name] ?? generateSecret(),
      }
      // The items have passed the section's own schema.
      steps.push(...((await unlessRefused(() => section.plan(items as never[], setup))) ?? []))
    }
    return steps.map((each) => ({ ...each, organisation: declared.slug }))
  }

  return (text: string, facts: RequestFacts): Promise<readonly PlannedStep[]> =>
    withSetupFile(text, async (file) => {
      if ('faults' in file) throw unusable(file.faults)
      const found: { readonly path: Path; readonly reason: string; readonly count: number }[] = []
      const report: Report = (path, reason, count = 1) => found.push({ path, reason, count })

      for (const [path, reason] of unusableTexts(file.content)) report(path, reason)
      const entries = entriesOf(file.content, sections, report)
      const steps: PlannedStep[] = []
      for (const entry of entries) steps.push(...(await planEntry(entry, file, report, facts)))
      if (found.length === 0) return steps
      const lines = await file.linesOf(found.map(({ path }) => path))
      throw unusable(found.map((fault, index) => ({ ...fault, line: lines[index] ?? 1 })))
    })
}

const bufferOf = (text: string | undefined) => (text === undefined ? undefined : Buffer.from(text))

type Entry = {
  readonly index: number
  readonly organisation: unknown
  readonly declared: (key: string) => unknown
  /** Whether a key stands in the file: a list that is empty there is another thing than one that is left out. */
  readonly names: (key: string) => boolean
}

/** Separates the organisation's own keys from those of the sections; unknown keys are reported. */
const entriesOf = (content: unknown, sections: readonly AnySetupSection[], report: Report): readonly Entry[] => {
  const file = parsePart(
    z.strictObject({ organisations: z.array(z.record(z.string(), z.unknown())).min(1) }),
    content,
    [],
    report,
  )
  const sectionKeys = sections.map(({ key }) => key)
  const known = [...Object.keys(DeclaredOrganisation.shape), ...sectionKeys]
  const first = new Map<unknown, number>()

  return (file?.organisations ?? []).map((given, index) => {
    const path = ['organisations', index] as const
    for (const key of Object.keys(given))
      if (!known.includes(key)) report([...path, key], `is not known; there are ${known.join(', ')}`)
    for (const name of ['slug', 'id']) {
      const earlier = first.get(given[name])
      if (given[name] === undefined) continue
      if (earlier === undefined) first.set(given[name], index)
      else report([...path, name], `is that of organisations[${earlier}]`)
    }
    return {
      index,
      organisation: Object.fromEntries(Object.entries(given).filter(([key]) => !sectionKeys.includes(key))),
      declared: (key) => given[key] ?? [],
      names: (key) => Object.hasOwn(given, key),
    }
  })
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
const reportUnknownKeys = ({ schema }: AnySetupSection, declared: unknown, at: Path, report: Report): void => {
  if (!Array.isArray(declared)) return
  for (const [index, item] of declared.entries())
    for (const { path, known } of unknownKeysOf(schema, item)) report([...at, index, ...path], unknownKey(known))
}

const unlessRefused = async <Result>(work: () => Promise<Result>): Promise<Result | undefined> => {
  try {
    return await work()
  } catch (error) {
    if (error instanceof Refused) return undefined
    throw error
  }
}

const unusable = (faults: readonly SetupFault[]): Problem => {
  const byInput = Map.groupBy(faults, ({ path }) => inputPath(path) || 'file')
  const fields = [...byInput].map(([input, those]) => {
    const reasons = those.map(({ line, reason }) => `line ${line}: ${reason}`)
    return [input, [...new Set(reasons)].join('; ')] as const
  })
  const all = faults.reduce((sum, { count = 1 }) => sum + count, 0)
  const count = `${all.toLocaleString('en-GB')} ${all === 1 ? 'thing is' : 'things are'} wrong`
  return new Problem('validation_failed', `${count} in the set-up file. Nothing was changed.`, {
    fields: Object.fromEntries(fields),
  })
}

const Step = z.object({
  organisation: Slug,
  what: z.string(),
  change: z.enum(['create', 'change', 'none']),
  details: z.array(z.string()),
  makes: z.array(z.string()).describe('The names of the secrets that are made for it.'),
  secrets: z.record(z.string(), z.string()).optional().describe('Shown when they were made, and never again.'),
})

const Result = z.object({ data: z.object({ applied: z.boolean(), steps: z.array(Step) }) })

const shown = (steps: readonly PlannedStep[], applied: boolean): z.input<typeof Step>[] =>
  steps.map(({ organisation, what, change, details, secrets }) => ({
    organisation,
    what,
    change,
    details: [...details],
    makes: Object.keys(secrets ?? {}),
    ...(applied && secrets && { secrets }),
  }))

/**
 * Makes so what was planned. When a step fails, the steps so far are told with their secrets, that one too: after a 503
 * nobody knows whether it was applied.
 */
const applyAll = async (steps: readonly PlannedStep[]): Promise<void> => {
  for (const [index, step] of steps.entries())
    try {
      if (step.change !== 'none') await step.apply()
    } catch (error) {
      const { code, message, fields, headers } = problemOf(error)
      const place = `What comes before “${step.organisation}: ${step.what}” was applied, what comes after it was not.`
      throw new Problem(code, `${message} ${place} Send the file again: it goes on from there.`, {
        fields,
        headers,
        data: { applied: false, steps: shown(steps.slice(0, index + 1), true) },
        ...(!(error instanceof Problem) && { cause: error }),
      })
    }
}

/** The set-up file of the operator: what it declares, held against what there is, and made so. */
export const setupRoutes = (deps: Deps): Route[] => {
  const plan = setupPlanner(deps)

  const planned = async (text: string | undefined, facts: RequestFacts) => {
    if (text === undefined)
      throw new Problem('validation_failed', 'Send the set-up file as the body, with Content-Type: application/yaml.')
    return plan(text, facts)
  }
  const spec = {
    method: 'post',
    tag: 'Operator',
    textBody: 'application/yaml',
    answers: { 200: Result },
  } as const

  return [
    route(
      {
        ...spec,
        address: '/admin/v1/setup',
        summary:
          'Plan what a set-up file changes (YAML, as application/yaml), and with apply=true change it. If that fails in the middle, data beside the error has what was applied, with its secrets',
        access: { kind: 'operator' },
        query: z.object({ apply: z.stringbool().default(false) }),
        errors: ['conflict', 'validation_failed'],
      },
      async ({ query: { apply }, text, ...facts }) => {
        const steps = await planned(text, { text, ...facts })
        if (apply) await applyAll(steps)
        return { status: 200, body: { data: { applied: apply, steps: shown(steps, apply) } } }
      },
    ),
    route(
      {
        ...spec,
        address: '/admin/v1/setup/plan',
        summary: 'Plan what a set-up file changes (YAML, as application/yaml); a read-only key will do',
        access: { kind: 'operator', changesNothing: true },
        errors: ['validation_failed'],
      },
      async ({ text, ...facts }) => {
        const steps = await planned(text, { text, ...facts })
        return { status: 200, body: { data: { applied: false, steps: shown(steps, false) } } }
      },
    ),
  ]
}
