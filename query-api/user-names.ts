import { fromStored } from '#domain/event.ts'
import { userEvents } from '#domain/users/events.ts'
import { foldUser, namelessUser, type User } from '#domain/users/record.ts'
import { UnreadableEvent } from '#infra/crypto/erased.ts'
import type { EventLog } from '#infra/event-log/event-log.ts'

const mostEvents = 1_000

/** Finds the names of users, for one answer. Whoever was erased, or is not known, has what stands in place of a name. */
export const userNames = (eventLog: Pick<EventLog, 'read'>) => {
  const names = new Map<string, Promise<string>>()

  const read = async (id: string): Promise<string> => {
    let user: User | undefined
    for (const recorded of await eventLog.read(`user-${id}`, { limit: mostEvents })) {
      try {
        if (recorded.type in userEvents) user = foldUser(user, fromStored(userEvents, recorded), recorded.metadata)
      } catch (error) {
        if (!(error instanceof UnreadableEvent)) throw error
      }
    }
    return user?.name || namelessUser(id)
  }

  return async (id: string): Promise<string> => {
    const name = names.get(id) ?? read(id)
    names.set(id, name)
    return name
  }
}
