import { createHash } from 'node:crypto'
import { z } from 'zod'
import { OperatorKeyScope } from '#domain/operator-keys/events.ts'
import { operatorKey } from '#domain/operator-keys/operator-key.ts'
import { operatorKeyNamed, type OperatorKey as OperatorKeyRecord } from '#domain/operator-keys/record.ts'
import type { Users } from '#domain/users/record.ts'
import { SentInstant } from '#domain/values.ts'
import { notFound } from '#domain/rejection.ts'
import { generateSecret } from '#infra/crypto/secret-hash.ts'
import { route, type RequestFacts, type Route } from '#infra/http/route.ts'
import { derivedId } from '#infra/ids.ts'
import { commandHandler, type Context, type Writer } from '../writing/handle.ts'
import { teamActor, impersonalRoute } from '../operator.ts'
import { realTime } from '#infra/clock.ts'

const Name = z
  .string()
  .regex(/^[a-z0-9][a-z0-9._-]{0,62}$/, 'must be of lower-case letters, digits, dots, dashes and underscores')
  .describe('Used once, also after the key has ended: it stands for ever at what was done with the key.')

const OperatorKey = z
  .object({
    name: z.string(),
    scope: OperatorKeyScope.describe('`read_only` may look at everything and change nothing.'),
    made_at: z.iso.datetime(),
    made_by: z.string().describe('The name of the key that made it, or the id of the user.'),
    ends_at: z.iso.datetime().nullable(),
    in_force: z.boolean(),
  })
  .meta({ id: 'OperatorKey' })

const OperatorKeyWithKey = OperatorKey.extend({ key: z.string().describe('Shown now and never again.') }).meta({
  id: 'OperatorKeyWithKey',
})

type Deps = {
  readonly writer: Writer
  readonly operatorKeys: ReadonlyMap<string, OperatorKeyRecord>
  readonly users: Pick<Users, 'users'>
}

const address = '/admin/v1/operator_keys'

const view = (
  { name, scope, made_at, made_by, ends_at, ended_at }: OperatorKeyRecord,
  realNow: string,
): z.input<typeof OperatorKey> => {
  const end = ended_at ?? ends_at
  return { name, scope, made_at, made_by, ends_at: end, in_force: end === null || (ended_at === null && end > realNow) }
}

const realNow = () => realTime().toISOString()

/** Keys of the operator with a name each, beside `OPERATOR_KEY`. They work for the whole installation, not for one firm. */
export const operatorKeyRoutes = ({ writer, operatorKeys, users }: Deps): Route[] => {
  const { handle } = commandHandler(writer, operatorKey)
  const idOf = (name: string) => derivedId('operator_key', name)
  const endOfMaker = ({ user, operator = '' }: RequestFacts): string | null => {
    const maker = user ? users.users.get(user.id) : operatorKeyNamed(operatorKeys, operator)
    return maker?.ends_at ?? null
  }
  const context = (facts: RequestFacts): Context => ({
    organisation_id: null,
    actor: teamActor(facts),
    correlation_id: facts.request_id,
    now: realNow(),
  })

  return [
    route(
      {
        ...impersonalRoute('operator'),
        method: 'get',
        address,
        summary: 'List the operator’s keys with their names, those that ended too; OPERATOR_KEY is not among them',
        answers: { 200: z.object({ data: z.array(OperatorKey) }) },
      },
      async () => {
        const now = realNow()
        const data = [...operatorKeys.values()]
          .toSorted((one, other) => (one.name < other.name ? -1 : 1))
          .map((key) => view(key, now))
        return { status: 200, body: { data } }
      },
    ),
    route(
      {
        ...impersonalRoute('operator'),
        method: 'post',
        address,
        summary: 'Make a key with a name of its own, shown once, in this answer',
        body: z.object({
          name: Name,
          scope: OperatorKeyScope,
          ends_at: SentInstant.nullable()
            .default(null)
            .describe('Not after the end of the key that makes it. Null: it lasts until it is ended.'),
        }),
        answers: { 201: z.object({ data: OperatorKeyWithKey }) },
        errors: ['conflict', 'validation_failed'],
      },
      async (request) => {
        const { name, scope, ends_at } = request.body
        const key = generateSecret()
        const now = realNow()
        const { state } = await handle(
          idOf(name),
          {
            type: 'MakeOperatorKey',
            name,
            scope,
            ends_at,
            made_by: request.user?.id ?? request.operator ?? '',
            key_digest: createHash('sha256').update(key).digest('hex'),
            real_now: now,
            maker_ends_at: endOfMaker(request),
          },
          context(request),
        )
        if (!state) throw notFound('operator key')
        return { status: 201, body: { data: { ...view(state, now), key } } }
      },
    ),
    route(
      {
        ...impersonalRoute('operator'),
        method: 'delete',
        address: `${address}/:name`,
        summary: 'End a key at once',
        path: z.object({ name: z.string() }),
        answers: { 200: z.object({ data: OperatorKey }) },
      },
      async (request) => {
        const { state } = await handle(idOf(request.path.name), { type: 'EndOperatorKey' }, context(request))
        if (!state) throw notFound('operator key')
        return { status: 200, body: { data: view(state, realNow()) } }
      },
    ),
  ]
}
