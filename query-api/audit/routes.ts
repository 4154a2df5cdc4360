import { z } from 'zod'
import { notFound } from '#domain/rejection.ts'
import { OrganisationId } from '#domain/values.ts'
import { consistencyProof } from '#infra/audit-tree/merkle.ts'
import { verifierOf, verifierText } from '#infra/audit-tree/signed-note.ts'
import { hashBytes, tileOfPath } from '#infra/audit-tree/tiles.ts'
import { readTiles } from '#infra/audit-tree/tree-rows.ts'
import type { EventLog } from '#infra/event-log/event-log.ts'
import { cursorOf, readCursorAs } from '#infra/http/cursor.ts'
import { Problem } from '#infra/http/problem.ts'
import { auditRoute, FileBody, impersonalRoute, route, type Route, type RouteSpec } from '#infra/http/route.ts'
import { inDigits } from '#infra/http/whole-number.ts'
import type { Database } from '#infra/postgres/lookups.ts'
import { pageParameters } from '../page.ts'
import {
  inTree,
  proofOf,
  readCheckpoints,
  recordOf,
  requireCheckpoint,
  requireLeaf,
  requireTree,
  type CheckpointRow,
} from './trees.ts'

type Parts = {
  readonly db: Database
  /** As it is stored: entries are made of that. */
  readonly storedLog: Pick<EventLog, 'read'>
}

const Size = inDigits(z.int().min(1))
const Index = inDigits(z.int().min(0))
const Hash = z.string().describe('32 bytes in base64.')

const Checkpoint = z
  .object({
    size: z.int().describe('How many entries the log had.'),
    signed_at: z.iso.datetime(),
    note: z.string().describe('What was signed, with its signatures: a C2SP checkpoint.'),
  })
  .meta({ id: 'AuditCheckpoint' })

const AuditLog = z
  .object({
    origin: z.string().describe('The name of the log, in its checkpoints.'),
    size: z.int().describe('How many entries it has, signed or not.'),
    keys: z.array(z.string()).describe('The public keys that may have signed its checkpoints, as C2SP verifier keys.'),
    checkpoint: Checkpoint.nullable().describe('The newest.'),
  })
  .meta({ id: 'AuditLog' })

const InclusionProof = z
  .object({
    event_id: z.string().nullable(),
    index: z.int().describe('The place of the entry in the log, from 0 on.'),
    record: z.string().describe('The entry, made of the event as it is stored now.'),
    leaf_hash: Hash,
    proof: z.array(Hash).describe('The hashes beside the path to the root, the lowest first (RFC 6962).'),
    included: z.boolean().describe('Whether the entry, as its event is now, is in the log that the checkpoint signs.'),
    checkpoint: Checkpoint,
  })
  .meta({ id: 'AuditInclusionProof' })

const ConsistencyProof = z
  .object({
    former: Checkpoint,
    proof: z.array(Hash).describe('The hashes that show that the later log begins with the former one (RFC 6962).'),
    checkpoint: Checkpoint,
  })
  .meta({ id: 'AuditConsistencyProof' })

const shown = ({ size, note, signed_at }: CheckpointRow): z.infer<typeof Checkpoint> => ({
  size,
  signed_at: signed_at.toISOString(),
  note,
})

const base64 = (hashes: readonly Buffer[]): string[] => hashes.map((hash) => hash.toString('base64'))

/** The logs of organisations, and that of the installation: the same routes below two addresses. */
export const auditRoutes = (parts: Parts): Route[] => [
  ...routesBelow(parts, '/audit/v1/organisations/:organisation_id', 'an organisation', {
    path: z.object({ organisation_id: OrganisationId }),
  }),
  ...routesBelow(parts, '/audit/v1', 'the installation', { path: z.object({}) }),
]

type Below = { readonly path: z.ZodObject }

const organisationOf = (path: unknown): string | undefined =>
  z.object({ organisation_id: z.string().optional() }).parse(path).organisation_id

/** Digests tell of nobody. Those of the installation are for whoever works for it. */
const getRoute = (address: string) =>
  ({
    tag: auditRoute.tag,
    access:
      address === '/audit/v1'
        ? impersonalRoute('operator').access
        : ({ ...auditRoute.access, showsPersonalData: false } as const),
    method: 'get',
  }) as const satisfies Partial<RouteSpec>

const routesBelow = (parts: Parts, address: string, owner: string, { path }: Below): Route[] => [
  logRoute(parts, address, owner, { path }),
  checkpointsRoute(parts, address, owner, { path }),
  inclusionRoute(parts, address, owner, { path }),
  consistencyRoute(parts, address, owner, { path }),
  checkpointFileRoute(parts, address, owner, { path }),
  tileRoute(parts, address, owner, { path }),
]

const logRoute = ({ db }: Parts, address: string, owner: string, { path }: Below): Route =>
  route(
    {
      ...getRoute(address),
      address: `${address}/log`,
      summary: `Show the audit log of ${owner}: its name, its size, its keys and its newest checkpoint`,
      path,
      answers: { 200: z.object({ data: AuditLog }) },
    },
    async (given) => {
      const tree = await requireTree(db, organisationOf(given.path))
      const [[newest], { rows }] = await Promise.all([
        readCheckpoints(db, tree, { limit: 1 }),
        db.query<{ public_key: Buffer }>({ text: 'select public_key from audit_key order by first_used_at' }),
      ])
      const keys = rows.map(({ public_key }) => verifierText(verifierOf(tree.origin, public_key)))
      const { origin, size } = tree
      return { status: 200, body: { data: { origin, size, keys, checkpoint: newest ? shown(newest) : null } } }
    },
  )

const BeforeSize = z.tuple([z.string().regex(/^[1-9]\d{0,15}$/)])

const checkpointsRoute = ({ db }: Parts, address: string, owner: string, { path }: Below): Route =>
  route(
    {
      ...getRoute(address),
      address: `${address}/checkpoints`,
      summary: `List the checkpoints of the audit log of ${owner}, newest first`,
      path,
      query: z.object(pageParameters),
      answers: { 200: z.object({ data: z.array(Checkpoint), next_cursor: z.string().nullable() }) },
      errors: ['invalid_parameter'],
    },
    async ({ path: given, query: { limit, cursor } }) => {
      const tree = await requireTree(db, organisationOf(given))
      const before = cursor === undefined ? undefined : Number(readCursorAs(cursor, BeforeSize)[0])
      const rows = await readCheckpoints(db, tree, { before, limit: limit + 1 })
      const page = rows.slice(0, limit)
      const last = rows.length > limit ? page.at(-1) : undefined
      return { status: 200, body: { data: page.map(shown), next_cursor: last ? cursorOf([String(last.size)]) : null } }
    },
  )

const inclusionRoute = ({ db, storedLog }: Parts, address: string, owner: string, { path }: Below): Route =>
  route(
    {
      ...getRoute(address),
      address: `${address}/inclusion_proof`,
      summary: `Show that an event, or an entry, is in the audit log of ${owner}`,
      path,
      query: z.object({
        event_id: z.uuid().optional(),
        index: Index.optional().describe('The place of the entry, where no event_id is given.'),
        size: Size.optional().describe('That of the checkpoint; by default of the newest.'),
      }),
      answers: { 200: z.object({ data: InclusionProof }) },
      errors: ['invalid_parameter'],
    },
    async ({ path: given, query: { event_id, index, size } }) => {
      if ((event_id === undefined) === (index === undefined)) throw oneOf('event_id', 'index')
      const tree = await requireTree(db, organisationOf(given))
      const [leaf, checkpoint] = await Promise.all([
        requireLeaf(db, tree, { event_id, index }),
        requireCheckpoint(db, tree, size),
      ])
      const place = Number(leaf.index)
      if (place >= checkpoint.size)
        throw new Problem(
          'not_found',
          'The checkpoint does not reach as far as this entry. Ask again in a minute, or for a later one.',
        )
      const record = await recordOf(storedLog, leaf)
      const { leaf: hash, proof, isIncluded } = await proofOf(db, tree, { index: place, record }, checkpoint)
      return {
        status: 200,
        body: {
          data: {
            event_id: leaf.event_id,
            index: place,
            record,
            leaf_hash: hash.toString('base64'),
            proof: base64(proof),
            included: isIncluded,
            checkpoint: shown(checkpoint),
          },
        },
      }
    },
  )

const oneOf = (one: string, other: string) =>
  new Problem('invalid_parameter', `Give one of ${one} and ${other}.`, {
    fields: { [one]: `Give either this or ${other}.` },
  })

const consistencyRoute = ({ db }: Parts, address: string, owner: string, { path }: Below): Route =>
  route(
    {
      ...getRoute(address),
      address: `${address}/consistency_proof`,
      summary: `Show that the audit log of ${owner} begins with what a former checkpoint signed`,
      path,
      query: z.object({
        former: Size.describe('The size of the former checkpoint.'),
        size: Size.optional().describe('That of the later checkpoint; by default of the newest.'),
      }),
      answers: { 200: z.object({ data: ConsistencyProof }) },
      errors: ['invalid_parameter'],
    },
    async ({ path: given, query: { former, size } }) => {
      const tree = await requireTree(db, organisationOf(given))
      const [earlier, later] = await Promise.all([
        requireCheckpoint(db, tree, former),
        requireCheckpoint(db, tree, size),
      ])
      if (earlier.size > later.size)
        throw new Problem('invalid_parameter', 'The former checkpoint is larger than the later one.', {
          fields: { former: 'must not be above size' },
        })
      const proof = await inTree(db, tree, (nodeAt) => consistencyProof(earlier.size, later.size, nodeAt))
      return { status: 200, body: { data: { former: shown(earlier), proof: base64(proof), checkpoint: shown(later) } } }
    },
  )

const checkpointFileRoute = ({ db }: Parts, address: string, owner: string, { path }: Below): Route =>
  route(
    {
      ...getRoute(address),
      address: `${address}/log/checkpoint`,
      summary: `Read the newest checkpoint of the audit log of ${owner}, as a C2SP tiled log serves it`,
      path,
      answers: { 200: FileBody },
      fileTypes: ['text/plain'],
    },
    async (given) => {
      const { note } = await requireCheckpoint(db, await requireTree(db, organisationOf(given.path)))
      const headers = { 'Content-Type': 'text/plain; charset=utf-8', 'Cache-Control': 'no-cache' }
      return { status: 200, body: Buffer.from(note), headers }
    },
  )

const tileRoute = ({ db }: Parts, address: string, owner: string, { path }: Below): Route =>
  route(
    {
      ...getRoute(address),
      address: `${address}/log/tile/:level/:tile`,
      takesRest: true,
      summary: `Read a tile of the audit log of ${owner}: the hashes of a C2SP tiled log`,
      path: path.extend({
        level: inDigits(z.int().min(0).max(63)),
        tile: z.string().describe('As in C2SP tlog-tiles: 001, x001/x234/067, and 000.p/5 of one that is not full.'),
      }),
      answers: { 200: FileBody },
      fileTypes: ['application/octet-stream'],
    },
    async (given) => {
      const { level, tile: steps } = z.object({ level: z.number(), tile: z.string() }).parse(given.path)
      const tree = await requireTree(db, organisationOf(given.path))
      const tile = tileOfPath(steps)
      const found = tile && (await readTiles(db, [{ level, index: tile.index, tree: tree.id }]))
      const hashes = found?.get(tree.id)?.get(`${level}/${tile?.index}`)
      const bytes = (tile?.width ?? 0) * hashBytes
      if (!hashes || hashes.length < bytes) throw notFound('tile')
      const headers = {
        'Content-Type': 'application/octet-stream',
        // After a new log was begun, another is at this address.
        'Cache-Control': 'no-cache',
      }
      return { status: 200, body: hashes.subarray(0, bytes), headers }
    },
  )
