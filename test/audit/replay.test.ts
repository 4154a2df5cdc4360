import { randomUUID } from 'node:crypto'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import type { Pool } from 'pg'
import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { Position } from '#domain/event.ts'
import { makeReplay } from '../../cli/audit/replay.ts'
import { readReplay, type AskedReplay } from '../../cli/audit/read-replay.ts'
import { allProjections } from '../../projections/all-projections.ts'
import { beginReplay, dropDueReplays, dropReplay, holdReplay } from '../../projections/audit/replay-schemas.ts'
import { startEventStoreDb } from '../eventstoredb/server.ts'
import { leadService, stranger, type LeadService } from '../ingests/fixture.ts'
import { memberOf } from '../users/team.ts'

const patience = { timeout: 60_000, interval: 100 }

const asked = (options: Record<string, string>): AskedReplay => {
  const read = readReplay(options)
  return typeof read === 'string' ? expect.fail(read) : read
}

/** Makes a replay, and answers with what was printed. */
const replayed = async ({ parts }: LeadService, options: Record<string, string>): Promise<string> => {
  const output = new PassThrough()
  const printed = text(output)
  try {
    await makeReplay(asked(options), { ...parts, output })
  } finally {
    output.end()
  }
  return printed
}

const endOf = async ({ parts }: LeadService): Promise<Position> =>
  (await parts.storedLog.head()) ?? expect.fail('Nothing has happened.')

/** The read models with rows that two schemas do not have alike, and in each how many rows. */
const differences = async (pool: Pool, one: string, other: string): Promise<readonly string[]> => {
  const found: string[] = []
  for (const { name } of allProjections) {
    const { rows } = await pool.query<{ count: number }>(`
      select count(*)::integer as count from (
        (select one::text from "${one}"."${name}" as one except all select other::text from "${other}"."${name}" as other)
        union all
        (select other::text from "${other}"."${name}" as other except all select one::text from "${one}"."${name}" as one)
      ) as differing`)
    if (rows[0]?.count !== 0) found.push(`${name}: ${rows[0]?.count}`)
  }
  return found
}

const countIn = async (pool: Pool, schema: string): Promise<Readonly<Record<string, number>>> => {
  const counts: Record<string, number> = {}
  for (const { name } of allProjections) {
    const { rows } = await pool.query<{ count: number }>(`select count(*)::integer as count from "${schema}"."${name}"`)
    if (rows[0] && rows[0].count > 0) counts[name] = rows[0].count
  }
  return counts
}

/** What a team and a firm's servers do with leads. */
const act = async (service: LeadService, count: number): Promise<readonly string[]> => {
  const contacts: string[] = []
  for (let number = 0; number < count; number++) {
    const identity = stranger()
    const consent = { method: 'form', wording: 'I agree', service: { phone: true } }
    const { contact_id = '' } = await service.process({ identity, consent, declared: { pet: identity.first_name } })
    contacts.push(contact_id)
    const acts = [
      { act: 'record_activity', kind: 'call', summary: `Called ${identity.first_name}`, direction: 'outbound' },
      { act: 'add_task', title: `Ring ${identity.first_name}` },
      ...(number % 2 === 0 ? [{ act: 'change_status', status: 'lost', reason: 'no' }] : []),
    ]
    await service.send('POST', `${service.admin}/leads/${contact_id}/acts`, { body: { acts } })
    const body = { type: 'quoted', occurred_at: '2026-01-15', contact_id, event_id: randomUUID() }
    await service.send('POST', '/api/v1/crm/outcomes', { token: service.sender.token, body })
  }
  return contacts
}

/** Keeps copies of the live tables as they are at the end of the log, once they show all and nothing follows of itself any more. */
const keepLive = (service: LeadService, schema: string): Promise<Position> =>
  vi.waitFor(async () => {
    const { pool } = service.parts
    const position = await endOf(service)
    const copies = allProjections.map(({ name }) => `create table ${schema}."${name}" as table public."${name}"`)
    await pool.query(`drop schema if exists ${schema} cascade; create schema ${schema}; ${copies.join(';')}`)
    await dropReplay(`${schema}_first`, pool)
    await replayed(service, { schema: `${schema}_first`, position, personal: 'opened' })
    expect(await differences(pool, schema, `${schema}_first`)).toEqual([])
    expect(await endOf(service)).toBe(position)
    return position
  }, patience)

/** Replays to two moments at which the live tables were copied, after more has happened. */
const comparedWithLive = async (service: LeadService) => {
  const { pool } = service.parts
  await act(service, 4)
  const first = await keepLive(service, 'kept_first')
  await act(service, 3)
  const second = await keepLive(service, 'kept_second')
  await act(service, 1)

  const printed = await replayed(service, { schema: 'then_first', position: first, personal: 'opened' })
  await replayed(service, { schema: 'then_second', position: second, personal: 'opened' })

  return {
    printed,
    first: await differences(pool, 'then_first', 'kept_first'),
    second: await differences(pool, 'then_second', 'kept_second'),
    between: await differences(pool, 'then_first', 'kept_second'),
    rows: await countIn(pool, 'then_first'),
  }
}

const equal = { first: [], second: [], rows: { leads: 4, customers: 4, outcomes: 8, ingests: 4 } }

describe('replay', () => {
  let service: LeadService
  let pool: Pool
  beforeAll(async () => {
    service = await leadService()
    pool = service.parts.pool
  }, 120_000)
  afterAll(() => service[Symbol.asyncDispose]())

  const schemas = async (): Promise<readonly string[]> => {
    const { rows } = await pool.query<{ name: string }>(
      'select name from replay join pg_namespace on nspname = name order by 1',
    )
    return rows.map(({ name }) => name)
  }

  /** A role of the database that may connect and nothing else, and a connection of it. */
  const reader = async () => {
    const role = `reader_${randomUUID().slice(0, 8)}`
    await pool.query(`create role ${role} login password 'reads'`)
    const url = Object.assign(new URL(service.database.url), { username: role, password: 'reads' })
    const client = new Client({ connectionString: url.href })
    await client.connect()
    return {
      role,
      client,
      [Symbol.asyncDispose]: async () => {
        await client.end()
        await pool.query(`drop owned by ${role}; drop role ${role}`)
      },
    }
  }

  test('read models at a position equal, row by row, the tables copied live at it', async () => {
    const compared = await comparedWithLive(service)

    expect(compared).toMatchObject(equal)
    expect(compared.between).not.toEqual([])
    expect(compared.printed).toMatch(/^then_first \d+ %\n/)
    expect(compared.printed).toMatch(/\n\d+ events have made \d+ rows in the schema then_first, .* for 168 hours\.\n$/)
  }, 120_000)

  test('what is replayed until a time is what had been recorded by then', async () => {
    const [before = ''] = await act(service, 1)
    const { rows } = await pool.query<{ now: Date }>('select clock_timestamp() as now')
    const until = rows[0]?.now.toISOString() ?? ''
    const [after = ''] = await act(service, 1)

    await replayed(service, { schema: 'until_then', until })

    const { rows: leads } = await pool.query<{ id: string }>('select contact_id as id from until_then.leads')
    const ids = leads.map(({ id }) => id)
    expect([ids.includes(before), ids.includes(after)]).toEqual([true, false])
    const { rows: moments } = await pool.query<{ known_at: Date }>('select known_at from until_then.replay_moment')
    expect(moments[0]?.known_at.toISOString()).toBe(until)
  }, 60_000)

  test('values that may identify a person are empty unless they are asked for', async () => {
    const identity = { ...stranger(), first_name: 'Wilhelmina' }
    await service.process({ identity, text: 'I am Wilhelmina.', declared: { pet: 'Wilhelmina the cat' } })
    const position = await endOf(service)
    await replayed(service, { schema: 'masked_then', position })
    await replayed(service, { schema: 'opened_then', position, personal: 'opened' })

    const holding = async (schema: string): Promise<readonly string[]> => {
      const found: string[] = []
      for (const { name } of allProjections) {
        const { rowCount } = await pool.query(
          `select from ${schema}."${name}" as held where held::text ilike '%wilhelmina%' or held::text ilike '%${identity.email}%'`,
        )
        if (rowCount !== 0) found.push(name)
      }
      return found
    }
    expect(await holding('masked_then')).toEqual([])
    expect(await holding('opened_then')).toEqual(expect.arrayContaining(['customers', 'lead_events', 'lead_records']))
    const [masked, opened] = [await countIn(pool, 'masked_then'), await countIn(pool, 'opened_then')]
    expect(masked).toMatchObject({ leads: opened['leads'], ingests: opened['ingests'], outcomes: opened['outcomes'] })
  }, 60_000)

  test('its reader sees the replay and nothing else, until it is dropped', async () => {
    await using own = await reader()
    const position = await endOf(service)
    await replayed(service, { schema: 'shown_then', position, role: own.role })

    const { rows } = await own.client.query<{ count: string }>('select count(*) from shown_then.leads')
    expect(Number(rows[0]?.count)).toBeGreaterThan(0)
    await expect(own.client.query('select * from public.leads')).rejects.toThrow(/permission denied/)
    await expect(own.client.query('select * from event_log.event')).rejects.toThrow(/permission denied/)
    await expect(own.client.query('delete from shown_then.leads')).rejects.toThrow(/permission denied/)
    await expect(own.client.query('create table shown_then.more (id text)')).rejects.toThrow(/permission denied/)

    expect(await dropReplay('shown_then', pool)).toBe(true)
    await expect(own.client.query('select * from shown_then.leads')).rejects.toThrow(/does not exist/)
    expect(await dropReplay('shown_then', pool)).toBe(false)
  }, 60_000)

  test('a role that sees anything else is refused', async () => {
    await using own = await reader()
    await pool.query(`grant select (contact_id) on public.leads to ${own.role}`)
    const position = await endOf(service)

    await expect(replayed(service, { schema: 'wrong_role', position, role: own.role })).rejects.toThrow(
      /sees more than a replay: it may read public\.leads/,
    )
    await expect(replayed(service, { schema: 'wrong_role', position, role: 'nobody_at_all' })).rejects.toThrow(
      /There is no role nobody_at_all/,
    )
    expect(await schemas()).not.toContain('wrong_role')
  })

  test('a role that may read the replay of another organisation, or is a member of another role, is refused', async () => {
    await using own = await reader()
    await using second = await reader()
    const other_id = await service.organisation('read-by-another')
    const position = await endOf(service)
    await replayed(service, { schema: 'of_one', position, role: own.role, organisation: service.organisation_id })
    await replayed(service, { schema: 'of_one_again', position, role: own.role, organisation: service.organisation_id })

    await expect(
      replayed(service, { schema: 'of_other', position, role: own.role, organisation: other_id }),
    ).rejects.toThrow(/sees more than a replay: it may read of_one/)
    await pool.query(`alter role ${second.role} noinherit; grant ${own.role} to ${second.role}`)
    await expect(replayed(service, { schema: 'by_member', position, role: second.role })).rejects.toThrow(
      /it is a member of another role/,
    )
  }, 60_000)

  test('an auditor of an organisation is shown its rows alone, and personal values where they may see them', async () => {
    const other_id = await service.organisation('others')
    const { key } = await memberOf(service, service.organisation_id, ['auditor'], { sees_personal_data: false })
    const { key: opens } = await memberOf(service, other_id, ['auditor'], { sees_personal_data: true })
    const { key: leads } = await memberOf(service, service.organisation_id, ['leads'])
    const position = await endOf(service)

    await replayed(service, { schema: 'of_firm', position, key })
    await replayed(service, { schema: 'of_others', position, key: opens, personal: 'opened' })

    expect(await countIn(pool, 'of_firm')).toHaveProperty('leads')
    expect(await countIn(pool, 'of_others')).not.toHaveProperty('leads')
    for (const { name, table } of allProjections)
      if ('organisation_id' in table.columns) {
        const { rows } = await pool.query(`select distinct organisation_id from of_firm."${name}"`)
        expect([[], [{ organisation_id: service.organisation_id }]]).toContainEqual(rows)
      }
    const refused = (options: Record<string, string>) => replayed(service, { schema: 'refused', position, ...options })
    await expect(refused({ key, personal: 'opened' })).rejects.toThrow(/may not see personal values/)
    await expect(refused({ key: opens, organisation: service.organisation_id })).rejects.toThrow(/no such organisation/)
    await expect(refused({ key: leads })).rejects.toThrow(/without the role auditor/)
    await expect(refused({ key: 'made up' })).rejects.toThrow(/not one of this installation/)
  }, 60_000)

  test('it is recorded as an access of each organisation that it shows, before its reader can look', async () => {
    const position = await endOf(service)
    await replayed(service, { schema: 'recorded_then', position, personal: 'opened' })

    const { rows } = await pool.query(
      `select actor_type, personal, filters, rows_shown > 0 as shows from access_record
       where record_type = 'replay' and organisation_id = $1 order by at desc limit 1`,
      [service.organisation_id],
    )
    expect(rows).toEqual([{ actor_type: 'operator', personal: 'opened', filters: ['position'], shows: true }])
  })

  test('one that was not finished is begun again, and the first goes no further; a finished one is refused', async () => {
    const of = { organisation_id: null, personal: 'masked', reader: null, keepMs: 3_600_000 } as const
    const first = await beginReplay({ name: 'again', ...of }, pool)
    await replayed(service, { schema: 'again', position: await endOf(service) })

    const db = await pool.connect()
    await expect(holdReplay(db, first)).rejects.toThrow(/another run has begun again/)
    db.release()
    await expect(replayed(service, { schema: 'again', position: await endOf(service) })).rejects.toThrow(/--drop again/)
    await expect(replayed(service, { schema: 'event_log', position: await endOf(service) })).rejects.toThrow(
      /a schema event_log that no replay has made/,
    )
  })

  test('one that is being read for long holds up no other that is to be dropped', async () => {
    await using own = await reader()
    const position = await endOf(service)
    await replayed(service, { schema: 'a_long_read', position, role: own.role })
    await replayed(service, { schema: 'b_due', position })
    await own.client.query('begin; select count(*) from a_long_read.leads')
    await pool.query(`update replay set drop_at = now() where name in ('a_long_read', 'b_due')`)

    await expect(dropDueReplays(pool)).rejects.toThrow(/lock timeout/)

    expect(await schemas()).not.toContain('b_due')
    await expect(own.client.query('select count(*) from a_long_read.leads')).rejects.toThrow(/permission denied/)
    await own.client.query('rollback')
    await dropDueReplays(pool)
    expect(await schemas()).not.toContain('a_long_read')
  }, 60_000)

  test('it is dropped when its time has come', async () => {
    await replayed(service, { schema: 'brief', position: await endOf(service), keep: '1h' })
    await pool.query(`update replay set drop_at = drop_at - interval '59 minutes' where name = 'brief'`)
    expect(await schemas()).toContain('brief')
    await pool.query(`update replay set drop_at = drop_at - interval '1 minute' where name = 'brief'`)

    await vi.waitFor(async () => expect(await schemas()).not.toContain('brief'), patience)
  })

  test('an erasure drops what may hold values of the person, finished or not', async () => {
    const [contact_id = ''] = await act(service, 1)
    const position = await endOf(service)
    await replayed(service, { schema: 'with_values', position, personal: 'opened' })
    await replayed(service, { schema: 'without_values', position })
    const of = { organisation_id: null, personal: 'opened', reader: null, keepMs: 3_600_000 } as const
    const unfinished = await beginReplay({ name: 'unfinished', ...of }, pool)
    const elsewhere = { ...of, organisation_id: randomUUID() }
    await beginReplay({ name: 'of_another_firm', ...elsewhere }, pool)

    const { status } = await service.send('POST', `${service.admin}/people/${contact_id}/erasure`, { body: {} })
    expect(status).toBe(202)

    await vi.waitFor(async () => {
      const left = await schemas()
      expect(left).not.toContain('with_values')
      expect(left).not.toContain('unfinished')
    }, patience)
    expect(await schemas()).toEqual(expect.arrayContaining(['without_values', 'of_another_firm']))
    const db = await pool.connect()
    await expect(holdReplay(db, unfinished)).rejects.toThrow(/somebody was erased/)
    db.release()
  }, 60_000)
})

test('on the log of EventStoreDB they equal the tables copied live, too', async () => {
  await using server = await startEventStoreDb()
  await using service = await leadService({ EVENT_LOG: 'eventstoredb', EVENTSTOREDB_URL: server.url })
  expect(await comparedWithLive(service)).toMatchObject(equal)
}, 180_000)

describe('what is asked for', () => {
  const good = { schema: 'then', until: '2026-03-31T23:59:59Z' }

  test.each([
    [{ until: '2026-03-31T23:59:59Z' }, /^--schema must be a name/],
    [{ ...good, schema: 'pg_then' }, /^--schema must be a name/],
    [{ ...good, schema: 'Then' }, /^--schema must be a name/],
    [{ schema: 'then' }, /^Say --until TIME or --position POSITION/],
    [{ ...good, position: '1' }, /^Say --until TIME or --position POSITION/],
    [{ ...good, until: 'March' }, /^--until must be a time/],
    [{ ...good, keep: '8d' }, /^--keep must be .* seven days at most/],
    [{ ...good, keep: '0d' }, /^--keep must be/],
    [{ ...good, personal: 'all' }, /^--personal must be opened or masked/],
    [{ ...good, organisation: 'firm' }, /^--organisation must be the id/],
  ])('%o is refused', (options, reason) => {
    expect(readReplay(options)).toMatch(reason)
  })

  test.each([
    ['7d', 7 * 24],
    ['168h', 168],
    ['1h', 1],
  ])('--keep %s', (keep, hours) => {
    expect(readReplay({ ...good, keep })).toMatchObject({ keepMs: hours * 3_600_000 })
  })
})
