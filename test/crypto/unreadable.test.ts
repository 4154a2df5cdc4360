import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { fromStored } from '#domain/event.ts'
import { consume } from '#infra/consumers/consumer.ts'
import { listSetAside } from '#infra/consumers/set-aside.ts'
import { sql } from '#infra/postgres/postgres.ts'
import { appended, newEvent } from '../event-log/events.ts'
import { fixture, soon } from '../projections/fixture.ts'
import { sealedOver, shapes } from './sealed-log-fixture.ts'

test('a data key that cannot be opened sets aside the records that need it, and all others go on', async () => {
  await using the = await fixture()
  const { log, elsewhere } = sealedOver(the.eventLog, the.pool)
  const [broken, whole] = [`application-${randomUUID()}`, `application-${randomUUID()}`]
  const saved = (name: string) => newEvent('PersonSaved', { person_id: name, name, note: null, step: 1 })
  await appended(log, broken, [saved('Ann')])
  await appended(log, whole, [saved('Bob')])
  await the.pool.query(sql`update data_key set sealed = '\\x00'::bytea where subject = ${broken}`)
  const seen: string[] = []
  const { run, parts } = the.makeProcess('reader', elsewhere())
  // The two consumers of a process share what was opened.
  const [inTransaction, reacting] = [
    run((given) =>
      consume({
        ...given,
        name: 'reader',
        version: 1,
        categories: ['application'],
        handle: async (events) => {
          seen.push(...events.map((each) => fromStored(shapes, each)).map(({ name }) => `folded ${String(name)}`))
        },
      }),
    ),
    run((given) =>
      consume({
        ...given,
        name: 'reactor',
        version: 1,
        categories: ['application'],
        react: async (event) => void seen.push(`reacted to ${String(fromStored(shapes, event)['name'])}`),
      }),
    ),
  ]

  for (const consuming of [inTransaction, reacting])
    await soon(() => expect(consuming.status()).toMatchObject({ state: 'live', setAside: 1 }))
  await appended(log, whole, [saved('Cid')], 0)

  await soon(() => expect(seen.toSorted()).toEqual(['folded Bob', 'folded Cid', 'reacted to Bob', 'reacted to Cid']))
  for (const name of ['reader', 'reactor'])
    expect(await listSetAside(parts.pool, name, 10)).toMatchObject([
      { record: broken, revision: 0, reason: expect.stringContaining('cannot be opened') as unknown },
    ])
})
