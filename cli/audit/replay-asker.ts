import { createHash } from 'node:crypto'
import { fromStored, type EventShapes } from '#domain/event.ts'
import { noUsers, isOver, isUserInForce, usersFold } from '#domain/users/record.ts'
import { operatorKeysFold, type OperatorKeys } from '#domain/operator-keys/record.ts'
import type { EventLog } from '#infra/event-log/event-log.ts'
import { realNow } from '#infra/clock.ts'
import { history } from '../../projections/history.ts'
import { ReplayRefused } from '../../projections/audit/replay-schemas.ts'
import type { UserRole } from '#domain/values.ts'

/** Whoever a replay is for, and what of it they may see. */
export type Asker = {
  readonly actor_type: 'user' | 'operator'
  readonly actor_id: string
  /** Null: all. */
  readonly organisation_id: string | null
}

export type AskedBy = {
  readonly key: string | undefined
  /** Null: all. */
  readonly organisation_id: string | null
  readonly personal: 'masked' | 'opened'
  /** A user has one of them, or is refused. */
  readonly roles: readonly UserRole[]
}

type Fold = {
  readonly categories: readonly string[]
  readonly events: EventShapes
}

const eventsOf = async function* (eventLog: EventLog, fold: Fold, signal: AbortSignal) {
  const upTo = await eventLog.head()
  if (upTo === undefined) return
  for await (const { events } of history(eventLog, fold, { upTo, signal })) yield* events
}

const noKey = () => new ReplayRefused('The key of --key is not one of this installation, or has ended.')

/**
 * Who asks, by their key. Whoever has none has the keys of the service, with which they run this, and acts as the operator.
 * An auditor of an organisation is shown that organisation, and personal values where they may see them.
 */
export const findAsker = async (asked: AskedBy, eventLog: EventLog, signal: AbortSignal): Promise<Asker> => {
  const { key, organisation_id, personal, roles } = asked
  if (key === undefined) return { actor_type: 'operator', actor_id: 'npm run audit', organisation_id }
  const digest = createHash('sha256').update(key).digest('hex')
  const users = noUsers()
  for await (const event of eventsOf(eventLog, usersFold, signal))
    usersFold.apply(users, fromStored(usersFold.events, event), event)
  const now = new Date(realNow()).toISOString()
  const found = users.keys.get(digest)
  const user = found && users.users.get(found.user_id)
  if (!found || !user) return operatorOf(asked, digest, eventLog, signal)
  if (isOver(found.ends_at, now) || !isUserInForce(user, now)) throw noKey()
  if (!user.roles.some((role) => roles.includes(role)))
    throw new ReplayRefused(`The key of --key is that of a user without the role ${roles.join(' or ')}.`)
  if (user.organisation_id !== null && organisation_id !== null && user.organisation_id !== organisation_id)
    throw new ReplayRefused('There is no such organisation for this user.')
  if (personal === 'opened' && !user.sees_personal_data)
    throw new ReplayRefused('This user may not see personal values: ask without them.')
  return { actor_type: 'user', actor_id: user.id, organisation_id: user.organisation_id ?? organisation_id }
}

const operatorOf = async (
  { organisation_id }: AskedBy,
  digest: string,
  eventLog: EventLog,
  signal: AbortSignal,
): Promise<Asker> => {
  const keys: OperatorKeys = new Map()
  for await (const event of eventsOf(eventLog, operatorKeysFold, signal))
    operatorKeysFold.apply(keys, fromStored(operatorKeysFold.events, event), event)
  const found = keys.get(digest)
  if (!found || found.ended_at !== null || isOver(found.ends_at, new Date(realNow()).toISOString())) throw noKey()
  return { actor_type: 'operator', actor_id: found.name, organisation_id }
}
