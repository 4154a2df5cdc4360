import { readFile } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import express from 'express'
import { Pool } from 'pg'

/**
 * The floor of an API: one row by its key, one row inserted, and nothing else. What is answered is as long as what the
 * service answers, of which the given file holds a sample; a row that is inserted holds of it what is not the same for all.
 */
const main = async ([url = '', sample = '']: readonly string[]) => {
  const { presentation, ...application } = JSON.parse(await readFile(sample, 'utf8')) as Record<string, unknown>
  const pool = new Pool({ connectionString: url, max: 20 })
  await pool.query('create table application (id uuid primary key, document json not null)')

  const app = express()
    .get('/applications/:id', async (request, response) => {
      const text = 'select document from application where id = $1'
      const { rows } = await pool.query<{ document: object }>({ name: 'read', text, values: [request.params.id] })
      response.status(rows[0] ? 200 : 404).json({ data: rows[0]?.document })
    })
    .post('/applications', express.json(), async (request, response) => {
      const document = { ...application, ...(request.body as { readonly id: string }) } // what the bench sends
      const text = 'insert into application (id, document) values ($1, $2)'
      await pool.query({ name: 'write', text, values: [document.id, JSON.stringify(document)] })
      response.status(201).json({ data: { ...document, presentation } })
    })

  const server = app.listen(0, '127.0.0.1', () => {
    const { port } = server.address() as AddressInfo // of a TCP server
    process.stdout.write(`listens at http://localhost:${port}\n`)
  })
}

await main(process.argv.slice(2))
