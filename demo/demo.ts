import { readFile, rm, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { parse } from 'yaml'
import { z } from 'zod'
import { textOf } from '#infra/kept-file.ts'
import { readSetupText } from '../cli/setup-plan/plan-text.ts'

const file = fileURLToPath(new URL('organisation.yaml', import.meta.url))

let declared: Promise<unknown> | undefined
/** Read once for all that is asked of it. */
const readDeclared = (): Promise<unknown> => (declared ??= readFile(file, 'utf8').then((text): unknown => parse(text)))

const first = <Item extends z.ZodType>(key: string, item: Item) =>
  z.object({ organisations: z.tuple([z.object({ [key]: z.tuple([item], z.unknown()) })]) })

const readFirst = async <Item extends z.ZodType>(key: string, item: Item): Promise<z.output<Item>> => {
  const declared = first(key, item).parse(await readDeclared())
  // The schema has just said so; zod does not follow a key that is a variable.
  return declared.organisations[0][key]?.[0] as z.output<Item>
}

/** The credentials of the demo organisation's first API application. */
export const demoApplication = async () =>
  readFirst('api_applications', z.object({ client_id: z.string(), client_secret: z.string() }))

/** The name of the demo organisation within the service. */
export const demoSlug = async (): Promise<string> => {
  const Declared = z.object({ organisations: z.tuple([z.object({ slug: z.string() })]) })
  return Declared.parse(await readDeclared()).organisations[0].slug
}

/** Its id. */
export const demoId = async (): Promise<string> => {
  const Declared = z.object({ organisations: z.tuple([z.object({ id: z.string() })]) })
  return Declared.parse(await readDeclared()).organisations[0].id
}

/** The credentials of all API applications of the demo organisation. */
const demoApplications = async () => {
  const Client = z.object({
    client_id: z.string(),
    client_secret: z.string(),
    allowed_origins: z.array(z.string()).optional(),
  })
  const Declared = z.object({ organisations: z.tuple([z.object({ api_applications: z.array(Client) })]) })
  const { organisations } = Declared.parse(await readDeclared())
  return organisations[0].api_applications
}

/** The credentials of the demo organisation's web pages. */
export const demoBrowserApplication = async () => {
  const browser = (await demoApplications()).find(({ allowed_origins }) => allowed_origins !== undefined)
  if (!browser) throw new Error('The demo organisation has no browser application.')
  const { client_id, client_secret } = browser
  return { client_id, client_secret }
}

/**
 * True where a secret of the demo organisation, all of which are published, opens a service. A request refused for another
 * reason than its secret has the right one.
 */
export const isDemoHere = async (origin: string, baseUrl: string): Promise<boolean> => {
  const isRight = async ({ client_id, client_secret }: { client_id: string; client_secret: string }) => {
    const resource = `${baseUrl}/api/v1`
    const body = new URLSearchParams({ grant_type: 'client_credentials', client_id, client_secret, resource })
    const { status } = await fetch(`${origin}/oauth/token`, { method: 'POST', body })
    if (status >= 500) throw new Error(`Whether the demo organisation is set up here cannot be told: ${status}.`)
    return status !== 401
  }
  const areRight = await Promise.all((await demoApplications()).map(isRight))
  return areRight.includes(true)
}

/** The address of the demo organisation's webhooks, and their signing secret. */
export const demoReceiver = async () =>
  readFirst('endpoint_connections', z.object({ base_url: z.url(), signing_secret: z.string() }))

/** Sets the demo organisation up in a service that has none yet; later starts leave alone what became of it. */
export const setUpDemo = async (
  origin: string,
  operatorKey: string,
  /** The addresses of outside parties in the file, and those to use instead. */
  addresses: Readonly<Record<string, string>> = {},
  /** A file that is there until all is set up: a start that was ended meanwhile is completed by the next. */
  unfinished?: string,
): Promise<void> => {
  const operator = async (path: string, request: RequestInit = {}) => {
    const headers = { authorization: `Bearer ${operatorKey}`, 'content-type': 'application/yaml' }
    const response = await fetch(`${origin}/admin/v1/${path}`, { ...request, headers })
    if (!response.ok) throw new Error(`The demo organisation could not be set up: ${await response.text()}`)
    return response.json()
  }
  const { data: organisations } = z.object({ data: z.array(z.unknown()) }).parse(await operator('organisations'))
  const isHalfDone = unfinished !== undefined && (await textOf(unfinished)) !== undefined
  if (organisations.length > 0 && !isHalfDone) return
  if (unfinished !== undefined) await writeFile(unfinished, '')
  const body = readdressed(await readSetupText(file), addresses)
  await operator('setup?apply=true', { method: 'POST', body })
  if (unfinished !== undefined) await rm(unfinished)
}

/** With other addresses instead of some. All at once: an address that is put in may begin as the next one does. */
export const readdressed = (text: string, addresses: Readonly<Record<string, string>>): string => {
  const declared = Object.keys(addresses)
  if (declared.length === 0) return text
  const anyOfThem = new RegExp(`(?:${declared.map((address) => RegExp.escape(address)).join('|')})(?!\\d)`, 'g')
  return text.replaceAll(anyOfThem, (address) => addresses[address] ?? address)
}
