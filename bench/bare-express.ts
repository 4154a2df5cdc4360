import { generateKeyPairSync, randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import express, { type RequestHandler } from 'express'
import { jwtVerify, SignJWT } from 'jose'
import { Pool } from 'pg'
import { z } from 'zod'

const { privateKey, publicKey } = generateKeyPairSync('ed25519')
const Claims = z.object({ sub: z.uuid(), scope: z.string() })
const known = new Map<string, { readonly sub: string; readonly expiresAt: number }>()

/** Checks the signature of a token the first time that it is sent, as the service does. */
const admit: RequestHandler = async (request, response, next) => {
  const token = request.get('authorization')?.replace(/^Bearer /, '') ?? ''
  let caller = known.get(token)
  if (!caller) {
    const { payload } = await jwtVerify(token, publicKey)
    caller = { sub: Claims.parse(payload).sub, expiresAt: (payload.exp ?? 0) * 1_000 }
    known.set(token, caller)
  }
  response.locals['caller'] = caller.sub
  if (caller.expiresAt > Date.now()) next()
  else response.status(401).end()
}

const text = z.string().min(1).max(255)
const Asked = z.object({
  product_slug: text,
  journey_slug: text,
  presentation_slug: text.nullish(),
  answers: z.record(z.string(), z.unknown()).nullish(),
  idempotency_key: text,
})

const tables = `
  create table bare (id uuid primary key, document json not null);
  create table event (id uuid primary key, record_id uuid not null, type text not null, data json not null,
    metadata json not null, recorded_at timestamptz not null default now());
  create table record (id uuid primary key, sender uuid not null, idempotency_key text not null, document json not null,
    unique (sender, idempotency_key))`

const writing = `
  with written as (
    insert into record (id, sender, idempotency_key, document) values ($1, $2, $3, $4) on conflict do nothing returning id)
  insert into event (id, record_id, type, data, metadata) select $5, id, $6, $7, $8 from written`

/**
 * Two floors of an API. What is answered is as long as what the service answers, of which the given file holds a sample; a
 * row that is written holds of it what is not the same for all.
 *
 * - Bare: one row by its key, or one row inserted, of whatever anybody sends. The targets are ratios to this one.
 * - By hand: what one would have to write for the same result. A request carries a token. Its body is validated, and makes
 *   one event and one row that can be read from then on, with one statement that is on the disk before it is answered; the
 *   same key again makes nothing.
 */
const main = async ([url = '', sample = '']: readonly string[]) => {
  const { presentation, ...application } = JSON.parse(await readFile(sample, 'utf8')) as Record<string, unknown>
  const pool = new Pool({ connectionString: url, max: 20 })
  await pool.query(tables)

  const read: RequestHandler = async (request, response) => {
    const text = 'select document from bare where id = $1'
    const { rows } = await pool.query<{ document: object }>({ name: 'read', text, values: [request.params['id']] })
    response.status(rows[0] ? 200 : 404).json({ data: rows[0]?.document })
  }

  const insert: RequestHandler = async (request, response) => {
    const document = { ...application, ...(request.body as { readonly id: string }) } // what the bench sends
    const text = 'insert into bare (id, document) values ($1, $2) on conflict do nothing'
    await pool.query({ name: 'insert', text, values: [document.id, JSON.stringify(document)] })
    response.status(201).json({ data: { ...document, presentation } })
  }

  const start: RequestHandler = async (request, response) => {
    const { success, data } = Asked.safeParse(request.body)
    if (!success) return void response.status(422).end()
    const caller = String(response.locals['caller'])
    const now = new Date().toISOString()
    const document = { ...application, id: randomUUID(), created_at: now }
    const metadata = { actor: caller, correlation_id: randomUUID(), occurred_at: now }
    const [stored, event, why] = [document, data, metadata].map((each) => JSON.stringify(each))
    const type = 'ApplicationStarted'
    const values = [document.id, caller, data.idempotency_key, stored, randomUUID(), type, event, why]
    const { rowCount } = await pool.query({ name: 'write', text: writing, values })
    if (rowCount === 1) response.status(201).json({ data: { ...document, presentation } })
    else response.status(409).end()
  }

  const app = express()
    .get('/rows/:id', read)
    .post('/rows', express.json(), insert)
    .post('/applications', admit, express.json(), start)

  const token = await new SignJWT({ scope: 'read write' })
    .setProtectedHeader({ alg: 'EdDSA' })
    .setSubject(randomUUID())
    .setExpirationTime('2h')
    .sign(privateKey)
  const server = app.listen(0, '127.0.0.1', () => {
    const { port } = server.address() as AddressInfo // of a TCP server
    process.stdout.write(`listens at http://localhost:${port} for the token ${token}\n`)
  })
}

await main(process.argv.slice(2))
