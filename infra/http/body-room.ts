import type { Request } from 'express'
import { withTimeout } from '../timeout.ts'
import { Problem } from './problem.ts'
import { addressOf } from './rate-limit.ts'

type Bounds = {
  /** The most for all bodies together. */
  readonly bytes: number
  /** The most for bodies from one address together: nobody takes the room of all others. */
  readonly bytesOfAddress: number
  /** A body that has not come by then gives its room to another. */
  readonly withinMs: number
}

/** Counts the bytes of a body, before they are kept. Throws when there is no room for them. */
export type Take = (bytes: number) => void

const usualBounds: Bounds = { bytes: 16 * 2 ** 20, bytesOfAddress: 4 * 2 ** 20, withinMs: 10_000 }

const unavailable = (message: string) =>
  new Problem('unavailable', message, { headers: { 'Retry-After': '5', Connection: 'close' } })

const tooMany = () => unavailable('Too many bodies are being received at the moment. Send the request again.')

type Body = { bytes: number; readonly giveWay: () => void }

/** One address's part of the room, and its bodies in the order in which they came. */
type Share = { bytes: number; readonly bodies: Set<Body> }

/**
 * Bodies of those who have not proven yet who they are: whatever they send, and however slowly, they take so much memory and
 * no more. The room is given back when the work has ended. When it is full, bodies of the address that has the most of it
 * give way to those of addresses with less: however many senders are slow, whoever sends little is heard.
 */
export const makeBodyRoom = ({ bytes: most, bytesOfAddress, withinMs }: Bounds = usualBounds) => {
  const shares = new Map<string, Share>()
  let takenByAll = 0

  const add = (address: string, body: Body, bytes: number): void => {
    const share = shares.get(address) ?? { bytes: 0, bodies: new Set() }
    takenByAll += bytes
    share.bytes += bytes
    body.bytes += bytes
    if (body.bytes === 0) share.bodies.delete(body)
    else share.bodies.add(body)
    if (share.bytes === 0) shares.delete(address)
    else shares.set(address, share)
  }

  /** The oldest body of the address that has the most, where that is more than so many bytes. */
  const oldestOfMost = (bytes: number): Body | undefined => {
    let largest: Share | undefined
    for (const share of shares.values()) if (share.bytes > (largest?.bytes ?? bytes)) largest = share
    const [oldest] = largest?.bodies ?? []
    return oldest
  }

  return async <Result>(
    request: Pick<Request, 'ip' | 'socket'>,
    work: (take: Take) => Promise<Result>,
  ): Promise<Result> => {
    const address = addressOf(request)
    const gaveWay = Promise.withResolvers<never>()
    let isOver = false
    const end = () => {
      isOver = true
      if (body.bytes > 0) add(address, body, -body.bytes)
    }
    const giveWay = () => {
      end()
      gaveWay.reject(tooMany())
    }
    const body: Body = { bytes: 0, giveWay }
    const take: Take = (bytes) => {
      if (isOver) throw unavailable('The body came too late.')
      const ofAddress = (shares.get(address)?.bytes ?? 0) + bytes
      if (ofAddress > bytesOfAddress) throw tooMany()
      while (takenByAll + bytes > most) {
        const other = oldestOfMost(ofAddress)
        if (!other) throw tooMany()
        other.giveWay()
      }
      if (bytes > 0) add(address, body, bytes)
    }
    const tooLate = () =>
      unavailable(`The body did not come within ${withinMs / 1_000} seconds. Send the request again.`)
    try {
      return await withTimeout(Promise.race([work(take), gaveWay.promise]), withinMs, tooLate)
    } finally {
      end()
    }
  }
}

/** The memory is that of the process, whichever of its endpoints a body comes to. */
export const inBodyRoom = makeBodyRoom()
