import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { readHead } from '#infra/audit-tree/checkpoint-text.ts'
import { isConsistent, leafHash, rootFromLeaf } from '#infra/audit-tree/merkle.ts'
import { openNote, readVerifier } from '#infra/audit-tree/signed-note.ts'
import { edgeTiles, tilePath, tileWidth } from '#infra/audit-tree/tiles.ts'
import { newStream } from '../event-log/events.ts'
import { isOnEventStoreDb, wholeService } from '../whole-service.ts'
import { eventOf, organisations } from './fixture.ts'
import { hasGo, verifierInGo } from './go.ts'

type Checkpoint = { readonly size: number; readonly note: string; readonly signed_at: string }
type Log = {
  readonly origin: string
  readonly size: number
  readonly keys: readonly string[]
  readonly checkpoint: Checkpoint | null
}
type Inclusion = {
  readonly event_id: string | null
  readonly index: number
  readonly record: string
  readonly proof: readonly string[]
  readonly included: boolean
  readonly checkpoint: Checkpoint
}
type Consistency = { readonly former: Checkpoint; readonly proof: readonly string[]; readonly checkpoint: Checkpoint }

let service: Awaited<ReturnType<typeof wholeService>>
let organisation: string
let below: string
/** The entries that the organisation's own events make, before those of the tests. */
let before: number
let eventIds: readonly string[]
beforeAll(async () => {
  service = await wholeService({ AUDIT_KEY: Buffer.alloc(32, 3).toString('base64') })
  organisation = await service.organisation('audited')
  below = `/audit/v1/organisations/${organisation}`
  const some = await appendSome(20)
  before = (await logOf()).size - 20
  eventIds = [...some, ...(await appendSome(280))]
}, 120_000)
afterAll(async () => service[Symbol.asyncDispose]())

const [unknown] = organisations

const get = <Data>(path: string) => service.send<Data>('GET', path)
const logOf = async (address = below) => (await get<Log>(`${address}/log`)).body.data

/** Events of the organisation, which are signed. */
const appendSome = async (count: number): Promise<readonly string[]> => {
  const stream = newStream()
  const events = Array.from({ length: count }, (_, number) => eventOf(organisation, { number }))
  await service.parts.storedLog.append(stream, 'no_stream', events)
  const last = events.at(-1)?.id
  await vi.waitFor(async () => expect((await get(`${below}/inclusion_proof?event_id=${last}`)).status).toBe(200), {
    timeout: 60_000,
    interval: 100,
  })
  return events.map(({ id }) => id)
}

const fileOf = async (path: string) => {
  const response = await fetch(`${service.origin}${path}`, {
    headers: { authorization: 'Bearer the operator key of the tests' },
  })
  return {
    status: response.status,
    type: response.headers.get('content-type'),
    bytes: Buffer.from(await response.arrayBuffer()),
  }
}

const verifierOf = ({ keys: [key = ''] }: Log) => {
  const verifier = readVerifier(key)
  if (!verifier) throw new Error(`${key} is no key.`)
  return verifier
}

const headOf = (note: string, log: Log) => {
  const head = readHead(openNote(note, [verifierOf(log)])?.text ?? '')
  if (!head) throw new Error('This is no checkpoint of the log.')
  return head
}

const hashes = (encoded: readonly string[]) => encoded.map((each) => Buffer.from(each, 'base64'))

test('an organisation’s log shows its name, its keys and its newest checkpoint, which the key opens', async () => {
  const log = await logOf()

  expect(log).toMatchObject({ origin: `service.test/audit/${organisation}`, size: before + 300 })
  expect(headOf(log.checkpoint?.note ?? '', log)).toMatchObject({ origin: log.origin, size: before + 300 })
  const file = await fileOf(`${below}/log/checkpoint`)
  expect([file.type, file.bytes.toString()]).toEqual(['text/plain; charset=utf-8', log.checkpoint?.note])
})

test('every event is shown to be in the log, by its id and by its place', async () => {
  const log = await logOf()
  for (const number of [0, 19, 20, 255, 256, 299]) {
    const { data } = (await get<Inclusion>(`${below}/inclusion_proof?event_id=${eventIds[number]}`)).body
    const head = headOf(data.checkpoint.note, log)
    const index = before + number

    expect(data).toMatchObject({ index, event_id: eventIds[number], included: true })
    expect(rootFromLeaf(leafHash(Buffer.from(data.record)), index, head.size, hashes(data.proof))).toEqual(head.root)
    expect((await get(`${below}/inclusion_proof?index=${index}`)).body.data).toEqual(data)
  }
})

test.skipIf(isOnEventStoreDb)(
  'question 15: an event that was changed in the database is shown not to be in the log any more (skipped on EventStoreDB: it changes PostgreSQL’s own table of events)',
  async () => {
    const [, changed] = eventIds
    const { pool } = service.parts
    const change = (data: object) => pool.query('update event_log.event set data = $1 where id = $2', [data, changed])
    await change({ number: 100 })

    const { data } = (await get<Inclusion>(`${below}/inclusion_proof?event_id=${changed}`)).body

    await change({ number: 1 })
    expect(data.included).toBe(false)
    const { data: again } = (await get<Inclusion>(`${below}/inclusion_proof?event_id=${changed}`)).body
    expect(again.included).toBe(true)
  },
)

test('question 15: a former checkpoint is shown to be the beginning of a later one', async () => {
  const log = await logOf()
  const { data } = (await get<Consistency>(`${below}/consistency_proof?former=${before + 20}`)).body

  expect(isConsistent(headOf(data.former.note, log), headOf(data.checkpoint.note, log), hashes(data.proof))).toBe(true)
  expect((await get(`${below}/consistency_proof?former=${before + 300}&size=${before + 20}`)).status).toBe(422)
  expect((await get(`${below}/consistency_proof?former=${before + 299}`)).status).toBe(404)
})

test('checkpoints are listed, the newest first, in pages', async () => {
  const sizes: number[] = []
  // Where events come a few at a time, there may be checkpoints between.
  for (let cursor = ''; sizes.at(-1) !== before + 20 && sizes.length < 300;) {
    const page = await get<readonly Checkpoint[]>(`${below}/checkpoints?limit=1${cursor}`)
    sizes.push(...page.body.data.map(({ size }) => size))
    cursor = `&cursor=${page.body.next_cursor}`
  }

  expect([sizes[0], sizes.at(-1)]).toEqual([before + 300, before + 20])
  expect(sizes).toEqual([...new Set(sizes)].toSorted((one, other) => other - one))
  expect((await get(`${below}/checkpoints?cursor=abc`)).status).toBe(422)
})

test('tiles are served whole, and in the width that is asked for', async () => {
  const widths = [
    ['0/000', tileWidth],
    ['0/000.p/20', 20],
    ['0/001.p/44', 44],
    ['1/000.p/1', 1],
  ] as const
  for (const [path, width] of widths) {
    const { status, type, bytes } = await fileOf(`${below}/log/tile/${path}`)
    expect([status, type, bytes.length]).toEqual([200, 'application/octet-stream', width * 32])
  }
  for (const path of ['0/001', `0/001.p/${before + 45}`, '0/002', '2/000.p/1', '0/0', '0/001.p/0'])
    expect((await fileOf(`${below}/log/tile/${path}`)).status).toBe(404)
})

test('the installation has a log of its own, and an unknown organisation has none', async () => {
  const own = await logOf('/audit/v1')

  expect(own.origin).toBe('service.test/audit/installation')
  expect((await get('/audit/v1/inclusion_proof?index=0')).body.data).toMatchObject({ included: true })
  expect((await get(`/audit/v1/organisations/${unknown}/log`)).status).toBe(404)
  expect((await get(`/audit/v1/inclusion_proof?event_id=${eventIds[0]}`)).status).toBe(404)
})

test('401 without a key, and 422 where both an event and a place are named, or neither', async () => {
  expect((await service.send('GET', `${below}/log`, { token: 'wrong' })).status).toBe(401)
  expect((await get(`${below}/inclusion_proof`)).status).toBe(422)
  expect((await get(`${below}/inclusion_proof?index=0&event_id=${eventIds[0]}`)).status).toBe(422)
})

/** All that Go needs to check some entries, a former checkpoint and the newest. */
const documentForGo = async () => {
  const log = await logOf()
  const { data: consistency } = (await get<Consistency>(`${below}/consistency_proof?former=${before + 20}`)).body
  const proofs = await Promise.all(
    [0, 20, 255, 256, 299].map(
      async (index) => (await get<Inclusion>(`${below}/inclusion_proof?index=${index}`)).body.data,
    ),
  )
  const partial = edgeTiles(log.size).map((tile) => tilePath(tile, tile.width))
  const paths = [tilePath({ level: 0, index: 0 }), ...partial]
  const tiles = await Promise.all(
    paths.map(async (path) => [path, (await fileOf(`${below}/log/${path}`)).bytes.toString('base64')] as const),
  )
  return {
    Key: log.keys[0],
    Former: consistency.former.note,
    Newest: consistency.checkpoint.note,
    Consistency: consistency.proof,
    Leaves: proofs.map(({ index, record, proof }) => ({ Index: index, Record: record, Proof: proof })),
    Tiles: Object.fromEntries(tiles),
  }
}

test.skipIf(!hasGo)(
  'Go’s own packages verify checkpoints, proofs and tiles, and refuse each where a byte was changed (skipped without Go and golang.org/x/mod)',
  { timeout: 300_000 },
  async () => {
    const byGo = await verifierInGo()
    const verify = (value: object) => byGo(JSON.stringify(value))
    const document = await documentForGo()
    const changed = (text: string | undefined = '', place = text.length >> 1) =>
      `${text.slice(0, place)}${text[place] === 'A' ? 'B' : 'A'}${text.slice(place + 1)}`
    const [leaf, ...leaves] = document.Leaves
    const [tile = ''] = Object.keys(document.Tiles)

    expect(verify(document)).toBe('verified')
    expect(verify({ ...document, Newest: changed(document.Newest, 20) })).toMatch(/^note: /)
    expect(verify({ ...document, Former: changed(document.Former, 80) })).toMatch(/^note: /)
    expect(
      verify({ ...document, Consistency: [changed(document.Consistency[0]), ...document.Consistency.slice(1)] }),
    ).toMatch(/^consistency: /)
    expect(verify({ ...document, Leaves: [{ ...leaf, Record: changed(leaf?.Record) }, ...leaves] })).toMatch(
      /^entry 0: /,
    )
    expect(verify({ ...document, Tiles: { ...document.Tiles, [tile]: changed(document.Tiles[tile], 10) } })).toMatch(
      /^(entry 0|tiles): /,
    )
  },
)
