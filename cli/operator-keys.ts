import { z } from 'zod'
import { readOptions } from '#infra/command-line.ts'
import { readConfig } from '#infra/config.ts'
import { askForOperatorKey, readOwnSecrets } from '#infra/local-installation.ts'

const usage = `Usage: npm run operator-keys -- make NAME [--read-only] [--ends INSTANT]
       npm run operator-keys -- list
       npm run operator-keys -- end NAME

Keys of the operator with a name each, beside OPERATOR_KEY. Whatever is done with a key bears its name, in the log and in
every event. A name is used once.

  --read-only         the key may look at everything and change nothing
  --ends INSTANT      until when it works, such as 2027-01-31T18:00:00Z; without it until it is ended
  --base-url URL      where the service is (BASE_URL)
  --operator-key KEY  the key to do this with (OPERATOR_KEY, or the one that npm start made)
`

/** Ends the program; the message is as it is written to the terminal. */
class Failed extends Error {
  override readonly name = 'Failed'
  readonly exitCode: number

  constructor(message: string, exitCode = 1) {
    super(message)
    this.exitCode = exitCode
  }
}

const say = (text: string): void => {
  process.stdout.write(`${text}\n`)
}

const Key = z.object({
  name: z.string(),
  scope: z.string(),
  made_by: z.string(),
  made_at: z.string(),
  ends_at: z.string().nullable(),
  in_force: z.boolean(),
})
const Keys = z.object({ data: z.array(Key) })
const OneKey = z.object({ data: Key })
const Made = z.object({ data: Key.extend({ key: z.string() }) })
const Refusal = z.object({
  error: z.object({ message: z.string(), fields: z.record(z.string(), z.string()).default({}) }),
})

/** The command line's names for inputs of the API. */
const options: Readonly<Record<string, string>> = { ends_at: '--ends', name: 'NAME' }

type Service = { readonly address: string; readonly operatorKey: string }

const send = async ({ address, operatorKey }: Service, method: string, path = '', body?: object): Promise<unknown> => {
  const request = fetch(`${address}${path}`, {
    method,
    headers: { authorization: `Bearer ${operatorKey}`, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  })
  const response = await request.catch(() => {
    throw new Failed('The service does not answer. Start it with npm start, or name it with --base-url.')
  })
  const answer: unknown = await response.json()
  if (response.ok) return answer
  const { message, fields } = Refusal.parse(answer).error
  throw new Failed(
    [...Object.entries(fields).map(([field, reason]) => `${options[field] ?? field}: ${reason}`), message].join('\n'),
  )
}

const shown = ({ name, scope, made_by, made_at, ends_at, in_force }: z.output<typeof Key>): string => {
  const until = ends_at === null ? 'until it is ended' : `${in_force ? 'until' : 'ended'} ${ends_at}`
  return `${name}  ${scope}  ${until}  (made ${made_at} with ${made_by})`
}

const run = async (): Promise<void> => {
  const { values, positionals } = readOptions(usage, {
    allowPositionals: true,
    options: {
      'read-only': { type: 'boolean', default: false },
      ends: { type: 'string' },
      'base-url': { type: 'string' },
      'operator-key': { type: 'string' },
    },
  })
  const [command, name] = positionals
  if (command !== 'list' && (name === undefined || (command !== 'make' && command !== 'end')))
    throw new Failed(usage, 2)

  const { BASE_URL, DATA_DIR, OPERATOR_KEY } = readConfig({
    ...process.env,
    BASE_URL: values['base-url'] ?? process.env['BASE_URL'],
  })
  const operatorKey = values['operator-key'] ?? OPERATOR_KEY ?? (await readOwnSecrets(DATA_DIR))?.OPERATOR_KEY
  if (operatorKey === undefined) throw new Failed(askForOperatorKey(DATA_DIR))
  const service = { address: `${BASE_URL}/admin/v1/operator_keys`, operatorKey }

  if (command === 'make') {
    const scope = values['read-only'] ? 'read_only' : 'all'
    const body = { name, scope, ...(values.ends !== undefined && { ends_at: values.ends }) }
    const { key, ...made } = Made.parse(await send(service, 'POST', '', body)).data
    say(`${shown(made)}\n\nThis is the key. It is not shown again:\n\n  ${key}`)
    return
  }
  if (command === 'end') {
    say(shown(OneKey.parse(await send(service, 'DELETE', `/${encodeURIComponent(name ?? '')}`)).data))
    return
  }
  const { data } = Keys.parse(await send(service, 'GET'))
  say(data.length === 0 ? 'There is no key beside OPERATOR_KEY.' : data.map(shown).join('\n'))
}

try {
  await run()
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = error instanceof Failed ? error.exitCode : 1
}
