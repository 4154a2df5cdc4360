import type { Organisation } from '#domain/access/record.ts'
import { outreachStream } from '#domain/outreach/stream.ts'
import {
  outreachSettingsFold,
  outreachStreamsFold,
  type OutreachSettings,
  type OutreachStream,
} from '#domain/outreach/record.ts'
import type { LiveFolds } from '#infra/consumers/live-folds.ts'
import { commandHandler, type Writer } from '../writing/handle.ts'

/** Streams and settings that outreach commands rest on, as the process keeps them in memory. */
export type LiveOutreach = {
  readonly streams: ReadonlyMap<string, OutreachStream>
  readonly settings: ReadonlyMap<string, OutreachSettings>
}

/** Follows what is set up; resolves when all of it is known. */
export const followOutreach = async (folds: LiveFolds): Promise<LiveOutreach> => {
  const [streams, settings] = await Promise.all([
    folds.follow(outreachStreamsFold, new Map<string, OutreachStream>()),
    folds.follow(outreachSettingsFold, new Map<string, OutreachSettings>()),
  ])
  return { streams, settings }
}

export type Organisations = ReadonlyMap<string, Pick<Organisation, 'time_zone' | 'name'>>

export const makeStreams = (writer: Writer) => commandHandler(writer, outreachStream)
export type Streams = ReturnType<typeof makeStreams>
