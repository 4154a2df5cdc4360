import { z } from 'zod'
import { plainWords, reasonsOf } from '#domain/reasons.ts'
import { Slug } from '#domain/values.ts'
import { inputPath, Problem } from '#infra/http/problem.ts'
import { route, type RequestFacts, type Route } from '#infra/http/route.ts'
import type { organisationPlanner } from './access/organisation-setup.ts'
import { DeclaredOrganisation } from './access/schemas.ts'
import { operatorActor } from './operator.ts'
import { parseSetupFile, type SetupFault, type SetupFile } from './setup-file.ts'
import type { AnySetupSection, SetupContext, SetupStep } from './setup-section.ts'

type Deps = {
  readonly planOrganisation: ReturnType<typeof organisationPlanner>
  /** In the order in which they are applied: what others rest on comes first. */
  readonly sections: readonly AnySetupSection[]
}

type Path = readonly PropertyKey[]
type Report = (path: Path, reason: string) => void
type PlannedStep = SetupStep & { readonly organisation: string }

/** Leaves a part of the file whose fault was reported. */
class Refused extends Error {
  override readonly name = 'Refused'
}

/** Holds a set-up file against what there is. Says all that is wrong with it; changes nothing. */
export const setupPlanner = ({ planOrganisation, sections }: Deps) => {
  const planEntry = async (
    entry: Entry,
    { files, binaryFiles }: SetupFile,
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
      return { section, path, items: parsePart(z.array(section.schema), entry.declared(section.key), path, report) }
    })
    if (!declared) return []
    const planned = await unlessRefused(() => planOrganisation(declared, context, refuseAt(at)))
    if (!planned) return []

    const { organisation_id, step } = planned
    const steps: SetupStep[] = [step]
    for (const { section, path, items } of parts) {
      if (!items || items.length === 0) continue
      const setup: SetupContext = {
        organisation_id,
        currency_code: declared.currency_code,
        time_zone: declared.time_zone,
        context: { ...context, organisation_id },
        refuse: refuseAt(path),
        report: (inner, reason) => report([...path, ...inner], reason),
        declared: (other) => z.array(z.unknown()).safeParse(entry.declared(other)).data ?? [],
        file: (name) => files.get(name),
        bytes: (name) => binaryFiles.get(name) ?? bufferOf(files.get(name)),
      }
      // The items have passed the section's own schema.
      steps.push(...((await unlessRefused(() => section.plan(items as never[], setup))) ?? []))
    }
    return steps.map((each) => ({ ...each, organisation: declared.slug }))
  }

  return async (text: string, facts: RequestFacts): Promise<readonly PlannedStep[]> => {
    const file = parseSetupFile(text)
    if ('faults' in file) throw unusable(file.faults)
    const faults: SetupFault[] = []
    const report: Report = (path, reason) => faults.push({ line: file.lineOf(path), path, reason })

    const entries = entriesOf(file.content, sections, report)
    const steps: PlannedStep[] = []
    for (const entry of entries) steps.push(...(await planEntry(entry, file, report, facts)))
    if (faults.length > 0) throw unusable(faults)
    return steps
  }
}

const bufferOf = (text: string | undefined) => (text === undefined ? undefined : Buffer.from(text))

type Entry = {
  readonly index: number
  readonly organisation: unknown
  readonly declared: (key: string) => unknown
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
  const count = `${faults.length} thing${faults.length === 1 ? ' is' : 's are'} wrong`
  return new Problem('validation_failed', `${count} in the set-up file. Nothing was changed.`, {
    fields: Object.fromEntries(fields),
  })
}

const Step = z.object({
  organisation: Slug,
  what: z.string(),
  change: z.enum(['create', 'change', 'none']),
  details: z.array(z.string()),
  secrets: z.record(z.string(), z.string()).optional().describe('Shown when they were made, and never again.'),
})

const Result = z.object({ data: z.object({ applied: z.boolean(), steps: z.array(Step) }) })

/** The set-up file of the operator: what it declares, held against what there is, and made so. */
export const setupRoutes = (deps: Deps): Route[] => {
  const plan = setupPlanner(deps)

  return [
    route(
      {
        method: 'post',
        address: '/admin/v1/setup',
        tag: 'Operator',
        summary: 'Plan what a set-up file changes (YAML, as application/yaml), and with apply=true change it',
        access: { kind: 'operator' },
        query: z.object({ apply: z.stringbool().default(false) }),
        textBody: 'application/yaml',
        answers: { 200: Result },
        errors: ['conflict', 'validation_failed'],
      },
      async ({ query: { apply }, text, ...facts }) => {
        if (text === undefined)
          throw new Problem(
            'validation_failed',
            'Send the set-up file as the body, with Content-Type: application/yaml.',
          )
        const steps = await plan(text, { text, ...facts })
        if (apply) for (const step of steps) if (step.change !== 'none') await step.apply()
        const shown = steps.map(({ organisation, what, change, details, secrets }) => ({
          organisation,
          what,
          change,
          details: [...details],
          ...(apply && secrets && { secrets }),
        }))
        return { status: 200, body: { data: { applied: apply, steps: shown } } }
      },
    ),
  ]
}
