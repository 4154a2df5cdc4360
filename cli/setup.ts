import { once } from 'node:events'
import { relative } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { z } from 'zod'
import { readOptions } from '#infra/command-line.ts'
import { readConfig } from '#infra/config.ts'
import { generateSecret } from '#infra/crypto/secret-hash.ts'
import { askForOperatorKey, readOwnSecrets } from '#infra/local-installation.ts'
import { exportedText, writeExported } from './setup-plan/export-setup.ts'
import { readSetupFile, setupText } from './setup-plan/plan-text.ts'
import { ask, Failed, jsonOf, Refused, type Service } from './setup-plan/service.ts'

const usage = `Usage: npm run setup -- FILE [--plan | --yes] [--base-url URL] [--operator-key KEY]
       npm run setup -- export --organisation SLUG [--file FILE] [--base-url URL] [--operator-key KEY]

Shows what a set-up file would change, asks, and changes it. demo/organisation.yaml documents the format.
With export, writes the set-up file of an organisation instead, without its secrets.

  --plan              only shows what would change
  --yes               does not ask
  --organisation SLUG whose set-up is exported; its id will do, too, as it must with the key of a user
  --file FILE         where it is written, with rate tables and documents beside it; without, all of it is printed
  --base-url URL      where the service is (BASE_URL)
  --operator-key KEY  the key of the operator (OPERATOR_KEY, or the one that npm start made)
`

const Step = z.object({
  organisation: z.string(),
  what: z.string(),
  change: z.enum(['create', 'change', 'none']),
  details: z.array(z.string()),
  makes: z.array(z.string()),
  secrets: z.record(z.string(), z.string()).optional(),
})
type Step = z.infer<typeof Step>

const Answer = z.object({ data: z.object({ steps: z.array(Step) }) })

const say = (text: string): void => {
  process.stdout.write(`${text}\n`)
}

const options = () => {
  const { values, positionals } = readOptions(usage, {
    allowPositionals: true,
    options: {
      yes: { type: 'boolean', default: false },
      plan: { type: 'boolean', default: false },
      organisation: { type: 'string' },
      file: { type: 'string' },
      'base-url': { type: 'string' },
      'operator-key': { type: 'string' },
    },
  })
  const [word, ...rest] = positionals
  if (rest.length > 0) throw new Failed(`Name one set-up file, not ${positionals.length}.\n\n${usage}`)
  const isExport = word === 'export'
  if (isExport !== (values.organisation !== undefined) || (!isExport && values.file !== undefined))
    throw new Failed(`--organisation and --file are for export, which needs the organisation.\n\n${usage}`)
  return { ...values, word }
}

const send = async (
  service: Service & { readonly file: string },
  text: string,
  address: 'setup/plan' | 'setup?apply=true',
): Promise<readonly Step[]> => {
  const sent = { method: 'POST', body: text } as const
  const response = await ask(service, address, sent, (fields) => linesOf(service.file, fields))
  return Answer.parse(await jsonOf(response, service.baseUrl)).data.steps
}

/** `line 12: is not known` at an input → `organisation.yaml:12: input: is not known`, in the order of the lines. */
const linesOf = (file: string, fields: Readonly<Record<string, string>>): readonly string[] =>
  Object.entries(fields)
    .flatMap(([input, reasons]) =>
      reasons.split(/; (?=line \d+: )/).map((reason) => {
        const [, line, what] = /^line (\d+): (.*)$/s.exec(reason) ?? []
        return { line: Number(line ?? 1), text: `${input === 'file' ? '' : `${input}: `}${what ?? reason}` }
      }),
    )
    .toSorted((one, other) => one.line - other.line)
    .map(({ line, text }) => `${file}:${line}: ${text}`)

const marks = { create: '+', change: '~', none: '=' } as const

const show = (steps: readonly Step[]) => {
  for (const { organisation, what, change, details } of steps) {
    say(`${marks[change]} ${organisation}: ${what}`)
    for (const detail of details) say(`    ${detail}`)
  }
}

/** Secrets by the step that needs them, and by name. */
type Secrets = Readonly<Record<string, Readonly<Record<string, string>>>>

const nameOf = ({ organisation, what }: Step): string => `${organisation}: ${what}`

/**
 * Makes up the secrets that the file leaves out, and shows them before anything is applied: whatever then becomes of the
 * service or of this command, what it has set up can be used.
 */
const makeSecrets = (plan: readonly Step[]): Secrets => {
  const needing = plan.filter(({ makes }) => makes.length > 0)
  const made = needing.map((step) => {
    const own = step.makes.map((name) => [name, generateSecret()] as const)
    return [nameOf(step), Object.fromEntries(own)] as const
  })
  if (made.length > 0) say('\nThese secrets are made and not shown again:')
  for (const [step, own] of made) for (const [name, secret] of Object.entries(own)) say(`  ${step}: ${name} ${secret}`)
  return Object.fromEntries(made)
}

/** A step that somebody else has applied since the plan has the secrets that they were shown. */
const showUnused = (secrets: Secrets, applied: readonly Step[]) => {
  const inForce = new Map(applied.map((step) => [nameOf(step), step.secrets ?? {}]))
  for (const [step, own] of Object.entries(secrets))
    for (const [name, secret] of Object.entries(own))
      if (inForce.get(step)?.[name] !== secret)
        say(`${step} was set up by somebody else meanwhile: the ${name} above is not in force.`)
}

/** The input ended before it said yes or no. */
class Unanswered extends Error {
  override readonly name = 'Unanswered'
}

const agreed = async (): Promise<boolean> => {
  const terminal = createInterface({ input: process.stdin, output: process.stdout })
  const ended = once(terminal, 'close').then(() => {
    throw new Unanswered(
      '\nNothing was changed: the input ended without an answer. Use --yes to apply, or --plan to look.',
    )
  })
  const answer = await Promise.race([terminal.question('\nApply these changes? [y/N] '), ended])
  ended.catch(() => undefined)
  terminal.close()
  return /^y(es)?$/i.test(answer.trim())
}

const serviceOf = async (given: ReturnType<typeof options>): Promise<Service> => {
  const { BASE_URL, DATA_DIR, OPERATOR_KEY } = readConfig({
    ...process.env,
    BASE_URL: given['base-url'] ?? process.env['BASE_URL'],
  })
  const operatorKey = given['operator-key'] ?? OPERATOR_KEY ?? (await readOwnSecrets(DATA_DIR))?.OPERATOR_KEY
  if (operatorKey === undefined) throw new Failed(askForOperatorKey(DATA_DIR))
  return { baseUrl: BASE_URL, operatorKey }
}

const exportTo = async (service: Service, organisation: string, file: string | undefined): Promise<void> => {
  const exported = await exportedText(service, organisation)
  if (file === undefined) return void process.stdout.write(exported)
  const beside = await writeExported(exported, file)
  say(`Wrote ${file}${beside === 0 ? '' : `, and ${beside} ${beside === 1 ? 'file' : 'files'} that it names`}.`)
}

const setUp = async (): Promise<void> => {
  const given = options()
  const { word: file, yes, plan: onlyPlans, organisation } = given
  if (file === undefined) throw new Failed(`Name the set-up file.\n\n${usage}`)
  if (organisation !== undefined) return exportTo(await serviceOf(given), organisation, given.file)
  const service = { ...(await serviceOf(given)), file: relative('', file) }

  const read = await readSetupFile(file)
  const plan = await send(service, setupText(read), 'setup/plan')
  show(plan)
  const changes = plan.filter(({ change }) => change !== 'none').length
  if (changes === 0) return say('\nNothing to change.')
  if (onlyPlans) return undefined
  if (!yes && !(await agreed())) return say('Nothing was changed.')

  const secrets = makeSecrets(plan)
  const steps = await send(service, setupText(read, secrets), 'setup?apply=true').catch((error: unknown) => {
    const reason = error instanceof Error ? error.message : String(error)
    const hasSecrets = Object.keys(secrets).length > 0
    const end = error instanceof Refused ? nothingDone(hasSecrets) : notFinished(hasSecrets)
    throw new Failed(`${reason}\n\n${end}`)
  })
  say(`\nApplied: ${changes} ${changes === 1 ? 'thing' : 'things'} changed.`)
  showUnused(secrets, steps)
}

const nothingDone = (hasSecrets: boolean): string =>
  `Nothing was applied.${hasSecrets ? ' The secrets above are not in force.' : ''}`

const notFinished = (hasSecrets: boolean): string =>
  `Perhaps not all was applied. Run the command again: it shows what is left, and goes on from there.${
    hasSecrets ? ' Keep the secrets above: what was applied has them. What is applied later gets others.' : ''
  }`

try {
  await setUp()
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = error instanceof Unanswered ? 2 : 1
}
