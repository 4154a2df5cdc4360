import { CustomerId } from '#domain/values.ts'
import type { OutreachStream } from '#domain/outreach/record.ts'
import { lowestId, type QueuedWork } from './queue.ts'
import type { Turn, WorkDeps } from './turn.ts'

const membersAtOnce = 500

/** Progress of something that concerns everybody in a stream. */
type Pass = { readonly number: number; readonly after: string; readonly hasFailed: boolean }

/**
 * A stream's work for all who are in it. A process that takes it over starts again: nothing changes twice. It begins once the
 * list of people has all who joined before.
 */
export const makeToEverybody = ({ streams, people, queue }: Pick<WorkDeps, 'streams' | 'people' | 'queue'>) => {
  const issues = new Map<string, Pass>()
  const moves = new Map<string, Pass>()

  const factsOf = async (stream: OutreachStream, contact_id: CustomerId) =>
    people.factsOf(stream, contact_id, await people.load(contact_id))

  /** Goes on with a page of them; true when there may be more. */
  const goOn = async (
    passes: Map<string, Pass>,
    { organisation_id, id }: OutreachStream,
    number: number,
    { eachOf, note }: Turn,
    {
      list,
      work,
      finish,
    }: {
      readonly list: QueuedWork['membersAfter']
      readonly work: (contact_id: CustomerId) => Promise<unknown>
      readonly finish: () => Promise<unknown>
    },
  ): Promise<boolean> => {
    const known = passes.get(id)
    const { after, hasFailed } = known?.number === number ? known : { after: lowestId, hasFailed: false }
    if (after === lowestId && !(await queue.isPassed(organisation_id, id, number))) return false
    const contacts = await list(organisation_id, id, number, after, membersAtOnce)
    const last = contacts.at(-1)
    if (last === undefined) {
      passes.delete(id)
      // What failed is tried from the beginning, the next time.
      if (!hasFailed) await finish()
      return false
    }
    const { failure } = await eachOf(contacts, async (each) => work(CustomerId.parse(each)))
    note(failure)
    passes.set(id, { number, after: last, hasFailed: hasFailed || failure !== undefined })
    return true
  }

  return {
    /** Gives an issue to subscribers who have not got it, and says so when that is everyone. */
    handOut: async (stream: OutreachStream, turn: Turn): Promise<boolean> => {
      const { organisation_id, id, issue, issue_handed_out } = stream
      if (issue <= issue_handed_out) return false
      return goOn(issues, stream, issue, turn, {
        list: queue.subscribersWithout,
        work: async (contact_id) => {
          const facts = await factsOf(stream, contact_id)
          const context = turn.contextOf(stream)
          await people.handle(contact_id, { type: 'GiveIssue', issue, ...facts, now: context.now }, context)
        },
        finish: async () => {
          const left = await queue.subscribersWithout(organisation_id, id, issue, lowestId, 1)
          if (left.length === 0) await streams.handle(id, { type: 'IssueHandedOut', issue }, turn.contextOf(stream))
        },
      })
    },

    /** Has the reminders of people be due at the times that the stream says now. */
    moveReminders: async (stream: OutreachStream, turn: Turn): Promise<boolean> => {
      const { id, timing, timing_moved } = stream
      if (timing <= timing_moved) return false
      return goOn(moves, stream, timing, turn, {
        list: queue.membersAfter,
        work: async (contact_id) => {
          const context = turn.contextOf(stream)
          const reminders = [{ ...(await factsOf(stream, contact_id)), now: context.now }]
          await people.handle(contact_id, { type: 'Reschedule', reminders }, context)
        },
        finish: async () => streams.handle(id, { type: 'RemindersMoved', timing }, turn.contextOf(stream)),
      })
    },
  }
}
