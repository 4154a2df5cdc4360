import type { Message } from '#domain/outreach/member.ts'
import type { OutreachStream } from '#domain/outreach/record.ts'
import type { CustomerId, OrganisationId } from '#domain/values.ts'
import type { Clock } from '#infra/clock.ts'
import type { Log } from '#infra/log.ts'
import type { Context } from '../writing/handle.ts'
import type { SendMessage } from './channels.ts'
import type { DraftWriter } from './draft-writer.ts'
import type { EachOf } from './each-of.ts'
import type { Links } from './links.ts'
import type { OutreachPeople } from './people.ts'
import type { QueuedWork } from './queue.ts'
import type { LiveOutreach, Streams } from './streams.ts'

export type WorkDeps = {
  readonly streams: Streams
  readonly people: OutreachPeople
  readonly live: LiveOutreach
  readonly queue: QueuedWork
  readonly writerFor: (organisation_id: OrganisationId) => DraftWriter
  readonly send: SendMessage
  readonly linksOf: (stream: OutreachStream, contact_id: string, message_id: string) => Links
  readonly clock: Clock
  readonly log: Log
}

export type Waiting = { readonly contact_id: CustomerId; readonly message: Message }

/** One turn of a stream: it goes on while there is more to do, for so long. */
export type Turn = {
  readonly eachOf: EachOf
  /** Keeps the first failure, to be told when the turn is over. */
  readonly note: (failure: Error | undefined) => void
  readonly contextOf: (stream: OutreachStream) => Context
  /**
   * Messages that wait for a step, a page at a time, and whether there may be more: the queue may be behind, and shows what
   * was done already.
   */
  readonly page: (stream: OutreachStream, step: 'draft' | 'sending', most: number) => Promise<Page>
}
type Page = { readonly waiting: readonly Waiting[]; readonly isFull: boolean }
