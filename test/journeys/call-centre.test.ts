import { afterAll, beforeAll, expect, test } from 'vitest'
import { callCentreDay, callCentreSections, expectedEvening } from '../../demo/calls.ts'
import { customers } from '../../projections/customers/projection.ts'
import { ingests } from '../../projections/ingests/projection.ts'
import { leadFeed, leadRecords, leads } from '../../projections/leads/projection.ts'
import { outcomes } from '../../projections/outcomes/projection.ts'
import { readModel } from '../read-model.ts'
import { wholeService } from '../whole-service.ts'

let service: Awaited<ReturnType<typeof wholeService>>
beforeAll(async () => {
  service = await wholeService()
}, 60_000)
afterAll(() => service[Symbol.asyncDispose]())

const readModels = [customers, ingests, leads, leadFeed, leadRecords, outcomes]

test('the day of a call centre: 500 leads from three sources, worked by the team, count exactly, as they do in a rebuild', async () => {
  await service.setUp(`organisations:\n  - slug: calls\n    name: Calls\n${callCentreSections}`)
  const { body } = await service.send<readonly { id: string; slug: string }[]>('GET', '/admin/v1/organisations')
  const organisation_id = body.data.find(({ slug }) => slug === 'calls')?.id ?? ''
  const scopes = ['read', 'write', 'crm', 'outcomes']
  const [website, partner] = await Promise.all([
    service.client(organisation_id, scopes),
    service.client(organisation_id, scopes),
  ])

  const evening = await callCentreDay({
    send: (method, path, { token, body: content, headers = {} }) =>
      service.send(method, path, { token, headers, ...(content && { body: content }) }),
    organisation_id,
    website: website.token,
    partner: partner.token,
    operator: 'the operator key of the tests',
  })

  expect(evening).toEqual(expectedEvening)

  await using rebuilt = await readModel(...readModels)
  await rebuilt.apply(await service.parts.eventLog.readAll({ limit: 1_000_000 }))
  for (const { name, table } of readModels) {
    const rows = `select * from ${name} order by ${table.key.join(', ')}`
    const [shown, refilled] = await Promise.all([service.parts.pool.query(rows), rebuilt.pool.query(rows)])
    expect(refilled.rows.length).toBeGreaterThan(0)
    expect(shown.rows).toEqual(refilled.rows)
  }
}, 300_000)
