import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import { readOptions } from '#infra/command-line.ts'
import { readConfig } from '#infra/config.ts'
import { readOwnSecrets } from '#infra/local-installation.ts'
import { callCentreDay, callCentreSections, expectedEvening, type Send } from './calls.ts'

readOptions(
  `Usage: npm run demo:calls

Plays the day of a call centre against a running service, with a firm of its own, and shows what there is in the evening. It makes
more requests than one address may in five minutes: start the service with RATE_LIMIT_REQUESTS=0.
`,
  {},
)

const tooMany = `One address may not make as many requests as this needs. Stop the service, start it without the limit, and run this again:

  RATE_LIMIT_REQUESTS=0 npm start
`
const fail = (line: string): never => {
  process.stderr.write(`${line}\n`)
  process.exit(1)
}

const { BASE_URL, DATA_DIR, OPERATOR_KEY } = readConfig(process.env)
const operator =
  OPERATOR_KEY ??
  (await readOwnSecrets(DATA_DIR))?.OPERATOR_KEY ??
  fail('Give OPERATOR_KEY, or the DATA_DIR that npm start was given.')
const { headers: limits } = await fetch(`${BASE_URL}/api/v1/products`).catch(() =>
  fail(`Nothing answers at ${BASE_URL}. Start the service first (npm start), or name its BASE_URL.`),
)
if (limits.has('ratelimit-limit')) fail(tooMany)

const request = async (method: string, path: string, token: string, type: string, body?: string, headers = {}) => {
  const response = await fetch(`${BASE_URL}${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': type, ...headers },
    ...(body !== undefined && { body }),
  })
  if (response.status === 429) fail(tooMany)
  return { status: response.status, body: await response.json() }
}
const send: Send = async (method, path, { token, body, headers }) =>
  request(method, path, token, 'application/json', body && JSON.stringify(body), headers)

const slug = `calls-${Date.now()}`
const file = `organisations:\n  - slug: ${slug}\n    name: A call centre\n${callCentreSections}`
const applied = await request('POST', '/admin/v1/setup?apply=true', operator, 'application/yaml', file)
if (applied.status !== 200) throw new Error(JSON.stringify(applied.body))
const Organisations = z.object({ data: z.array(z.object({ id: z.string(), slug: z.string() })) })
const organisations = Organisations.parse((await send('GET', '/admin/v1/organisations', { token: operator })).body)
const organisation_id = organisations.data.find((each) => each.slug === slug)?.id ?? ''

const Created = z.object({ data: z.object({ client_id: z.string(), client_secret: z.string() }) })
const Token = z.object({ access_token: z.string() })
const tokenOf = async (name: string): Promise<string> => {
  const scopes = ['read', 'write', 'crm', 'outcomes']
  const path = `/admin/v1/organisations/${organisation_id}/api_applications`
  const { data } = Created.parse((await send('POST', path, { token: operator, body: { name, scopes } })).body)
  const form = { ...data, grant_type: 'client_credentials', scope: scopes.join(' '), resource: `${BASE_URL}/api/v1` }
  const response = await fetch(`${BASE_URL}/oauth/token`, { method: 'POST', body: new URLSearchParams(form) })
  return Token.parse(await response.json()).access_token
}

const [website, partner] = await Promise.all([tokenOf('Website'), tokenOf('Partner')])
const evening = await callCentreDay({ send, organisation_id, website, partner, operator })
process.stdout.write(`${JSON.stringify(evening, null, 2)}\n`)
if (!isDeepStrictEqual(evening, expectedEvening)) throw new Error('The counts are not what they must be.')
process.stdout.write('The counts are what they must be.\n')
