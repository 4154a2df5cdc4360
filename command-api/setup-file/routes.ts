import { z } from 'zod'
import { ProposalId } from '#domain/approvals/events.ts'
import { Slug } from '#domain/values.ts'
import { generateSecret } from '#infra/crypto/secret-hash.ts'
import { inputPath, Problem, problemOf } from '#infra/http/problem.ts'
import { teamRoute, route, type RequestFacts, type Route } from '#infra/http/route.ts'
import type { organisationPlanner } from '../access/organisation-setup.ts'
import { teamSender } from '../operator.ts'
import { withSetupFile, type SetupFile } from './read-setup-file.ts'
import { faultCollector, type DeclaredEntry, type Report } from './declared.ts'
import type { SetupFault } from './file.ts'
import { Proposed } from '../writing/approval.ts'
import { WaitsForOther, type AnySetupSection, type SetupContext, type SetupStep } from './section.ts'

type Deps = {
  readonly planOrganisation: ReturnType<typeof organisationPlanner>
  readonly organisations: ReadonlyMap<string, { readonly slug: string; readonly active: boolean }>
  /** The sections in the order in which they are applied: those that others rest on come first. */
  readonly sections: readonly AnySetupSection[]
}

type Path = readonly PropertyKey[]
type PlannedStep = SetupStep & { readonly organisation: string }

/** Leaves a part of the file whose fault was reported. */
class Refused extends Error {
  override readonly name = 'Refused'
}

/** Holds a set-up file against what there is. Says all that is wrong with it; changes nothing. */
export const setupPlanner = ({ planOrganisation, organisations, sections }: Deps) => {
  /** Of an owner's file: their own organisation is the only one, and whether it is active is the operator's to say. */
  const refuseOthers = (
    { slug, id, active }: NonNullable<DeclaredEntry['organisation']>,
    { user }: RequestFacts,
    refuse: (path: Path, reason: string) => never,
  ): void => {
    const own = user?.organisation_id ?? null
    if (own === null) return
    const { slug: ownSlug = '', active: isActive = true } = organisations.get(own) ?? {}
    if (slug !== ownSlug || (id !== undefined && id !== own)) refuse(['slug'], `must be that of your own, ${ownSlug}`)
    if (active !== undefined && active !== isActive) refuse(['active'], 'is for the operator of the service to say')
  }

  const planEntry = async (
    { index, organisation: declared, items, written }: DeclaredEntry,
    { files, binaryFiles, madeSecrets }: Pick<SetupFile, 'files' | 'binaryFiles' | 'madeSecrets'>,
    { report, lacks }: { readonly report: Report; readonly lacks: SetupContext['lacks'] },
    facts: RequestFacts,
  ): Promise<readonly PlannedStep[]> => {
    const at = ['organisations', index] as const
    const refuseAt = (path: Path) => (inner: Path, reason: string) => {
      report([...path, ...inner], reason)
      throw new Refused(reason)
    }
    const context = {
      ...teamSender(facts),
      correlation_id: facts.request_id,
      now: facts.now,
    } as const

    if (!declared) return []
    const planned = await unlessRefused(async () => {
      refuseOthers(declared, facts, refuseAt(at))
      return planOrganisation(declared, context, refuseAt(at))
    })
    if (!planned) return []

    const { organisation_id, details, step } = planned
    const steps: SetupStep[] = [step]
    for (const section of sections) {
      const ofSection = items.get(section.key)
      if (!ofSection) continue
      const path = [...at, section.key]
      const setup: SetupContext = {
        organisation_id,
        ...details,
        context: { ...context, organisation_id },
        refuse: refuseAt(path),
        report: (inner, reason, count) => report([...path, ...inner], reason, count),
        lacks: (inner, name) => lacks([...path, ...inner], name),
        declared: (other) => z.array(z.unknown()).safeParse(written[other] ?? []).data ?? [],
        file: (name) => files.get(name),
        bytes: (name) => binaryFiles.get(name) ?? bufferOf(files.get(name)),
        makeSecret: (what, name) => madeSecrets.get(`${declared.slug}: ${what}`)?.[name] ?? generateSecret(),
      }
      // The items have passed the section's own schema.
      steps.push(...((await unlessRefused(() => section.plan(ofSection as never[], setup))) ?? []))
    }
    return steps.map((each) => ({ ...each, organisation: declared.slug }))
  }

  return (text: string, facts: RequestFacts): Promise<readonly PlannedStep[]> =>
    withSetupFile(text, sections, async (file) => {
      if ('faults' in file) throw unusable(file.faults)
      const found = faultCollector()
      const lacking = faultCollector(Infinity)
      const lacks: SetupContext['lacks'] = (path, name) =>
        lacking.report(path, `the secret ${name} is missing: write it here in place of its name`)
      const steps: PlannedStep[] = []
      for (const entry of file.declared.entries)
        steps.push(...(await planEntry(entry, file, { report: found.report, lacks }, facts)))
      const faults = [...file.declared.faults, ...found.faults, ...lacking.faults]
      if (faults.length === 0) return steps
      const lines = await file.linesOf(faults.map(({ path }) => path))
      const placed = faults.map((fault, index) => ({ ...fault, line: lines[index] ?? 1 }))
      const count = file.declared.count + found.count + lacking.count
      throw unusable(placed, count, file.declared.isCut || found.isCut)
    })
}

const bufferOf = (text: string | undefined) => (text === undefined ? undefined : Buffer.from(text))

const unlessRefused = async <Result>(work: () => Promise<Result>): Promise<Result | undefined> => {
  try {
    return await work()
  } catch (error) {
    if (error instanceof Refused) return undefined
    throw error
  }
}

/** Also what is quoted of a file in an answer is as long as can be read. */
const longestQuoted = 200
const cut = (text: string, longest: number): string =>
  text.length <= longest ? text : `${text.slice(0, longest).toWellFormed()}…`

const unusable = (faults: readonly SetupFault[], count = faults.length, isCut = false): Problem => {
  const byInput = Map.groupBy(faults, ({ path }) => cut(inputPath(path), longestQuoted) || 'file')
  const fields = [...byInput].map(([input, those]) => {
    const reasons = those.map(({ line, reason }) => `line ${line}: ${cut(reason, 10 * longestQuoted)}`)
    return [input, [...new Set(reasons)].join('; ')] as const
  })
  const wrong = `${count.toLocaleString('en-GB')} ${count === 1 ? 'thing is' : 'things are'} wrong in the set-up file`
  const told = isCut ? `${wrong}, the first of which are named` : wrong
  return new Problem('validation_failed', `${told}. Nothing was changed.`, { fields: Object.fromEntries(fields) })
}

const Step = z.object({
  organisation: Slug,
  what: z.string(),
  change: z.enum(['create', 'change', 'none']),
  details: z.array(z.string()),
  makes: z.array(z.string()).describe('The names of the secrets that are made for it.'),
  waits: z.literal(true).optional().describe('It is not done before another user approves something.'),
  proposal_id: ProposalId.optional().describe('The proposal that it waits as, once it was applied.'),
  secrets: z.record(z.string(), z.string()).optional().describe('Shown when they were made, and never again.'),
})

const Result = z.object({ data: z.object({ applied: z.boolean(), steps: z.array(Step) }) })

type ShownStep = z.input<typeof Step>

const shown = (
  { organisation, what, change, details, secrets, waits }: PlannedStep,
  applied: boolean,
  outcome: Pick<ShownStep, 'waits' | 'proposal_id'> & { readonly why?: string } = waits ? { waits } : {},
): ShownStep => {
  const { why = outcome.waits ? 'waits until another user approves it' : undefined, ...shownOutcome } = outcome
  return {
    organisation,
    what,
    change,
    details: [...details, ...(why === undefined ? [] : [why])],
    makes: Object.keys(secrets ?? {}),
    ...shownOutcome,
    ...(applied && secrets && { secrets }),
  }
}

/** Applies a step. One that waits for somebody is no failure: those after it are applied. */
const applyOne = async (step: PlannedStep): Promise<ShownStep> => {
  try {
    if (step.change !== 'none') await step.apply()
    return shown(step, true, {})
  } catch (error) {
    if (error instanceof Proposed)
      return shown(step, true, { waits: true, proposal_id: error.proposal_id, why: error.message })
    if (error instanceof WaitsForOther) return shown(step, true, { waits: true, why: error.message })
    throw error
  }
}

/**
 * Makes so what was planned. When a step fails, the steps so far are told with their secrets, that one too: after a 503
 * nobody knows whether it was applied.
 */
const applyAll = async (steps: readonly PlannedStep[]): Promise<ShownStep[]> => {
  const applied: ShownStep[] = []
  for (const step of steps)
    try {
      applied.push(await applyOne(step))
    } catch (error) {
      const { code, message, fields, headers } = problemOf(error)
      const place = `What comes before “${step.organisation}: ${step.what}” was applied, what comes after it was not.`
      throw new Problem(code, `${message} ${place} Send the file again: it goes on from there.`, {
        fields,
        headers,
        data: { applied: false, steps: [...applied, shown(step, true)] },
        ...(!(error instanceof Problem) && { cause: error }),
      })
    }
  return applied
}

/** The set-up file of the operator, or of an owner: what it declares, held against what there is, and made so. */
export const setupRoutes = (deps: Deps): Route[] => {
  const plan = setupPlanner(deps)

  const planned = async (text: string | undefined, facts: RequestFacts) => {
    if (text === undefined)
      throw new Problem('validation_failed', 'Send the set-up file as the body, with Content-Type: application/yaml.')
    return plan(text, facts)
  }
  const spec = {
    method: 'post',
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
        ...teamRoute('owner', 'operator'),
        query: z.object({ apply: z.stringbool().default(false) }),
        errors: ['conflict', 'validation_failed'],
      },
      async ({ query: { apply }, text, ...facts }) => {
        const steps = await planned(text, { text, ...facts })
        const told = apply ? await applyAll(steps) : steps.map((step) => shown(step, false))
        return { status: 200, body: { data: { applied: apply, steps: told } } }
      },
    ),
    route(
      {
        ...spec,
        address: '/admin/v1/setup/plan',
        summary: 'Plan what a set-up file changes (YAML, as application/yaml); a read-only key will do',
        tag: 'Operator',
        access: { ...teamRoute('owner', 'operator').access, changesNothing: true },
        errors: ['validation_failed'],
      },
      async ({ text, ...facts }) => {
        const steps = await planned(text, { text, ...facts })
        return { status: 200, body: { data: { applied: false, steps: steps.map((step) => shown(step, false)) } } }
      },
    ),
  ]
}
