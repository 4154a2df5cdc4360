import { once } from 'node:events'
import { relative } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { z } from 'zod'
import { readOptions } from '#infra/command-line.ts'
import { readConfig } from '#infra/config.ts'
import { generateSecret } from '#infra/crypto/secret-hash.ts'
import { askForOperatorKey, readOwnSecrets } from '#infra/local-installation.ts'
import { readSetupFile, setupText } from './setup-plan/plan-text.ts'

const usage = `Usage: npm run setup -- FILE [--plan | --yes] [--base-url URL] [--operator-key KEY]

Shows what a set-up file would change, asks, and changes it. demo/organisation.yaml documents the format.

  --plan              only shows what would change
  --yes               does not ask
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
const Refusal = z.object({
  error: z.object({ message: z.string(), fields: z.record(z.string(), z.string()).default({}) }),
  data: z.unknown().optional(),
})

/** Ends the program with exit code 1; the message is as it is written to the terminal. */
class Failed extends Error {
  override readonly name: string = 'Failed'
}

/** The service has refused a request as a whole. */
class Refused extends Failed {
  override readonly name = 'Refused'
}

const say = (text: string): void => {
  process.stdout.write(`${text}\n`)
}

const options = () => {
  const { values, positionals } = readOptions(usage, {
    allowPositionals: true,
    options: {
      yes: { type: 'boolean', default: false },
      plan: { type: 'boolean', default: false },
      'base-url': { type: 'string' },
      'operator-key': { type: 'string' },
    },
  })
  const [file, ...rest] = positionals
  if (rest.length > 0) throw new Failed(`Name one set-up file, not ${positionals.length}.\n\n${usage}`)
  return { ...values, file }
}

type Service = { readonly baseUrl: string; readonly operatorKey: string; readonly file: string }

const send = async (
  { baseUrl, operatorKey, file }: Service,
  text: string,
  address: 'setup/plan' | 'setup?apply=true',
): Promise<readonly Step[]> => {
  const request = fetch(`${baseUrl}/admin/v1/${address}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${operatorKey}`, 'content-type': 'application/yaml' },
    body: text,
  })
  const response = await request.catch(() => {
    throw new Failed(`The service does not answer at ${baseUrl}. Start it with npm start, or name it with --base-url.`)
  })
  const body: unknown = await response.json().catch(() => {
    throw new Failed(`What answers at ${baseUrl} is not this service. Name its address with --base-url.`)
  })
  if (response.ok) return Answer.parse(body).data.steps
  const { error, data } = Refusal.parse(body)
  const { message, fields } = error
  const hints: Readonly<Record<number, string>> = {
    401: `The key of --operator-key, OPERATOR_KEY or DATA_DIR is not one of the service at ${baseUrl}.`,
    404: `The address was ${baseUrl}: name it as callers use it, without /api/v1.`,
  }
  const said = [...linesOf(file, fields), message, ...[hints[response.status] ?? []].flat()].join('\n')
  // What was done before a fault is told beside it.
  throw response.status < 500 && data === undefined ? new Refused(said) : new Failed(said)
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

const setUp = async (): Promise<void> => {
  const { file, yes, plan: onlyPlans, ...given } = options()
  if (file === undefined) throw new Failed(`Name the set-up file.\n\n${usage}`)

  const { BASE_URL, DATA_DIR, OPERATOR_KEY } = readConfig({
    ...process.env,
    BASE_URL: given['base-url'] ?? process.env['BASE_URL'],
  })
  const operatorKey = given['operator-key'] ?? OPERATOR_KEY ?? (await readOwnSecrets(DATA_DIR))?.OPERATOR_KEY
  if (operatorKey === undefined) throw new Failed(askForOperatorKey(DATA_DIR))
  const service = { baseUrl: BASE_URL, operatorKey, file: relative('', file) }

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
