import shared from '@eventstore/db-client/generated/shared_pb.js'
import type { UUID } from '@eventstore/db-client/generated/shared_pb.js'
import streams from '@eventstore/db-client/generated/streams_pb.js'
import type { ReadResp } from '@eventstore/db-client/generated/streams_pb.js'
import type { ProposedEvent, StoredEvent } from './database.ts'

type ProposedMessage = {
  readonly getId: () => UUID | undefined
  readonly getMetadataMap: () => { readonly get: (key: string) => string | undefined }
  readonly getData_asU8: () => Uint8Array
  readonly getCustomMetadata_asU8: () => Uint8Array
}

/** An event as a client proposes it. Undefined when its type or content type is missing. */
export const toProposed = (message: ProposedMessage): ProposedEvent | undefined => {
  const type = message.getMetadataMap().get('type')
  const contentType = message.getMetadataMap().get('content-type')
  if (type === undefined || contentType === undefined) return undefined
  return {
    id: message.getId()?.getString() ?? '',
    type,
    isJson: contentType === 'application/json',
    data: message.getData_asU8(),
    metadata: message.getCustomMetadata_asU8(),
  }
}

/** What events count against the greatest size of an append. */
export const sizeOf = (events: readonly ProposedEvent[]) =>
  events.reduce((size, { type, data, metadata }) => size + data.length + metadata.length + type.length * 2, 0)

export const nameIn = (identifier: { readonly getStreamName_asU8: () => Uint8Array } | undefined) =>
  Buffer.from(identifier?.getStreamName_asU8() ?? []).toString('utf8')

export const identifierOf = (stream: string) => new shared.StreamIdentifier().setStreamName(Buffer.from(stream))

export const eventMessage = (event: StoredEvent): ReadResp => {
  const position = String(event.position)
  const recorded = new streams.ReadResp.ReadEvent.RecordedEvent()
    .setId(new shared.UUID().setString(event.id))
    .setStreamIdentifier(identifierOf(event.stream))
    .setStreamRevision(String(event.revision))
    .setCommitPosition(position)
    .setPreparePosition(position)
    .setData(event.data)
    .setCustomMetadata(event.metadata)
  recorded
    .getMetadataMap()
    .set('type', event.type)
    .set('created', String(BigInt(event.created.getTime()) * 10_000n))
    .set('content-type', event.isJson ? 'application/json' : 'application/octet-stream')
  return new streams.ReadResp().setEvent(
    new streams.ReadResp.ReadEvent().setEvent(recorded).setCommitPosition(position),
  )
}

export const notFoundMessage = (stream: string): ReadResp =>
  new streams.ReadResp().setStreamNotFound(
    new streams.ReadResp.StreamNotFound().setStreamIdentifier(identifierOf(stream)),
  )

export const confirmationMessage = (): ReadResp =>
  new streams.ReadResp().setConfirmation(
    new streams.ReadResp.SubscriptionConfirmation().setSubscriptionId(crypto.randomUUID()),
  )

export const caughtUpMessage = (): ReadResp => new streams.ReadResp().setCaughtUp(new streams.ReadResp.CaughtUp())

export const checkpointMessage = (commit: string, prepare: string): ReadResp =>
  new streams.ReadResp().setCheckpoint(
    new streams.ReadResp.Checkpoint().setCommitPosition(commit).setPreparePosition(prepare),
  )
