import { setImmediate as turn } from 'node:timers/promises'
import { Metadata, status, type handleBidiStreamingCall, type handleClientStreamingCall } from '@grpc/grpc-js'
import codes from '@eventstore/db-client/generated/code_pb.js'
import shared from '@eventstore/db-client/generated/shared_pb.js'
import statuses from '@eventstore/db-client/generated/status_pb.js'
import streams from '@eventstore/db-client/generated/streams_pb.js'
import type {
  AppendReq,
  AppendResp,
  BatchAppendReq,
  BatchAppendResp,
} from '@eventstore/db-client/generated/streams_pb.js'
import type { Database, Expectation, ProposedEvent, Written } from './database.ts'
import { Any, Empty } from './google.ts'
import { identifierOf, nameIn, sizeOf, toProposed } from './messages.ts'

/** How the next append fails: without having been written, or although it was. */
export type Fault = { readonly code: status; readonly isWritten: boolean }

type Answer = Parameters<handleClientStreamingCall<AppendReq, AppendResp>>[1]

/** One append: a call of its own. The stream and expectation come first, then an event in each message. */
export const appending =
  (database: Database, maxAppendSize: number, faults: Fault[]): handleClientStreamingCall<AppendReq, AppendResp> =>
  (call, answer) => {
    const finish = async () => {
      // What grpc-js reads is of this type, but it does not say so.
      const requests = await Array.fromAsync(call as AsyncIterable<AppendReq>)
      // A broken connection, too, looks like the end at first. What came until then is no append.
      await turn()
      if (!call.cancelled) append(requests, answer)
    }
    const append = ([first, ...others]: readonly AppendReq[], reply: Answer) => {
      const options = first?.getOptions()
      const messages = others.flatMap((request) => request.getProposedMessage() ?? [])
      const events = messages.flatMap((message) => toProposed(message) ?? [])
      if (!options) return reply({ code: status.UNKNOWN, details: 'Exception was thrown by handler.' })
      if (events.length < messages.length) return reply(refusal(incomplete))
      if (sizeOf(events) > maxAppendSize) return reply(refusal(tooBig(maxAppendSize)))

      const expected = expectationOf(options)
      const write = () => database.append(nameIn(options.getStreamIdentifier()), expected, events)
      const fault = faults.shift()
      if (fault?.isWritten) write()
      if (fault) return reply({ code: fault.code, details: 'It was made to fail.' })
      reply(null, toAppended(expected, write()))
    }
    finish().catch(() => undefined)
  }

const incomplete = {
  exception: 'missing-required-metadata-property',
  'required-metadata-properties': 'type,content-type',
}

const tooBig = (limit: number) => ({
  exception: 'maximum-append-size-exceeded',
  'maximum-append-size': String(limit),
})

/** What exactly was wrong the server says in trailers. */
const refusal = (trailers: Readonly<Record<string, string>>) => ({
  code: status.INVALID_ARGUMENT,
  details: `The append is refused: ${trailers['exception']}.`,
  metadata: Metadata.fromHttp2Headers(trailers),
})

const expectationOf = (options: AppendReq.Options): Expectation => {
  if (options.hasRevision()) return Number(options.getRevision())
  if (options.hasNoStream()) return 'no_stream'
  return options.hasStreamExists() ? 'stream_exists' : 'any'
}

const toAppended = (expected: Expectation, written: Written): AppendResp => {
  const { revision } = written
  if (written.outcome === 'written') {
    const success = new streams.AppendResp.Success()
    if (revision === undefined) success.setNoStream(new shared.Empty())
    else success.setCurrentRevision(String(revision))
    const { position } = written
    if (position === undefined) success.setNoPosition(new shared.Empty())
    else
      success.setPosition(
        new streams.AppendResp.Position().setCommitPosition(String(position)).setPreparePosition(String(position)),
      )
    return new streams.AppendResp().setSuccess(success)
  }

  const wrong = new streams.AppendResp.WrongExpectedVersion()
  if (revision === undefined) wrong.setCurrentNoStream(new shared.Empty())
  else wrong.setCurrentRevision(String(revision))
  if (typeof expected === 'number') wrong.setExpectedRevision(String(expected))
  else if (expected === 'no_stream') wrong.setExpectedNoStream(new shared.Empty())
  else if (expected === 'stream_exists') wrong.setExpectedStreamExists(new shared.Empty())
  else wrong.setExpectedAny(new shared.Empty())
  return new streams.AppendResp().setWrongExpectedVersion(wrong)
}

/** Many appends on one long call, each known by its correlation id and possibly in several messages. */
export const batchAppending =
  (database: Database, maxAppendSize: number): handleBidiStreamingCall<BatchAppendReq, BatchAppendResp> =>
  (call) => {
    const pending = new Map<string, { options: BatchAppendReq.Options; events: ProposedEvent[] }>()

    call.on('data', (request: BatchAppendReq) => {
      const id = request.getCorrelationId()?.getString() ?? ''
      const options = request.getOptions()
      if (options) pending.set(id, { options, events: [] })
      const append = pending.get(id)
      if (!append) return

      const stream = nameIn(append.options.getStreamIdentifier())
      const reply = (response: BatchAppendResp) => {
        pending.delete(id)
        call.write(response.setCorrelationId(request.getCorrelationId()).setStreamIdentifier(identifierOf(stream)))
      }
      const messages = request.getProposedMessagesList()
      const events = messages.flatMap((message) => toProposed(message) ?? [])
      append.events.push(...events)
      if (events.length < messages.length)
        return reply(failed('BadRequest', codes.Code.INVALID_ARGUMENT, new shared.BadRequest()))
      if (sizeOf(append.events) > maxAppendSize) {
        const details = new shared.MaximumAppendSizeExceeded().setMaxappendsize(maxAppendSize)
        return reply(failed('MaximumAppendSizeExceeded', codes.Code.INVALID_ARGUMENT, details))
      }
      if (!request.getIsFinal()) return
      const expected = batchExpectationOf(append.options)
      reply(toBatchAppended(expected, database.append(stream, expected, append.events)))
    })
    call.on('error', () => undefined)
    call.on('end', () => call.end())
  }

const batchExpectationOf = (options: BatchAppendReq.Options): Expectation => {
  if (options.hasStreamPosition()) return Number(options.getStreamPosition())
  if (options.hasNoStream()) return 'no_stream'
  return options.hasStreamExists() ? 'stream_exists' : 'any'
}

const toBatchAppended = (expected: Expectation, written: Written): BatchAppendResp => {
  const { revision } = written
  if (written.outcome === 'written') {
    const success = new streams.BatchAppendResp.Success()
    if (revision === undefined) success.setNoStream(new Empty())
    else success.setCurrentRevision(String(revision))
    const { position } = written
    if (position === undefined) success.setNoPosition(new Empty())
    else
      success.setPosition(
        new shared.AllStreamPosition().setCommitPosition(String(position)).setPreparePosition(String(position)),
      )
    return new streams.BatchAppendResp().setSuccess(success)
  }

  const details = new shared.WrongExpectedVersion()
  if (revision === undefined) details.setCurrentNoStream(new Empty())
  else details.setCurrentStreamRevision(String(revision))
  if (typeof expected === 'number') details.setExpectedStreamPosition(String(expected))
  else if (expected === 'no_stream') details.setExpectedNoStream(new Empty())
  else if (expected === 'stream_exists') details.setExpectedStreamExists(new Empty())
  else details.setExpectedAny(new Empty())
  return failed('WrongExpectedVersion', codes.Code.ALREADY_EXISTS, details)
}

/** The server packs what went wrong into the `Any` of a `google.rpc.Status`. The status is named as the details are. */
const failed = (
  name: 'WrongExpectedVersion' | 'MaximumAppendSizeExceeded' | 'BadRequest',
  code: codes.Code,
  details: { readonly serializeBinary: () => Uint8Array },
): BatchAppendResp => {
  const packed = new Any()
  packed.pack(details.serializeBinary(), `event_store.client.${name}`)
  const error = new statuses.Status().setCode(code).setMessage(name).setDetails(packed)
  return new streams.BatchAppendResp().setError(error)
}
