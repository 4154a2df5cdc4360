import type { Organisation } from '#domain/access/record.ts'
import { outreachStream } from '#domain/outreach/stream.ts'
import type { OutreachSettings, OutreachStream } from '#domain/outreach/record.ts'
import { commandHandler, type Writer } from '../handle.ts'

/** What commands about outreach rest on, as the process keeps it in memory. */
export type LiveOutreach = {
  readonly streams: ReadonlyMap<string, OutreachStream>
  readonly settings: ReadonlyMap<string, OutreachSettings>
}

export type Organisations = ReadonlyMap<string, Pick<Organisation, 'time_zone' | 'name'>>

export const timeZoneOf = (organisations: Organisations, organisation_id: string): string =>
  organisations.get(organisation_id)?.time_zone ?? 'Europe/London'

export const makeStreams = (writer: Writer) => commandHandler(writer, outreachStream)
export type Streams = ReturnType<typeof makeStreams>
