import type { Request } from 'express'
import { withTimeout } from '../timeout.ts'
import { Problem } from './problem.ts'
import { addressOf } from './rate-limit.ts'

type Bounds = {
  /** Of all bodies together. */
  readonly bytes: number
  /** Of the bodies from one address together: nobody takes the room of all others. */
  readonly bytesOfAddress: number
  /** A body that has not come by then gives its room to another. */
  readonly withinMs: number
}

/** How the bytes of a body are counted, before they are kept. Throws when there is no room for them. */
export type Take = (bytes: number) => void

const usualBounds: Bounds = { bytes: 16 * 2 ** 20, bytesOfAddress: 4 * 2 ** 20, withinMs: 10_000 }

const unavailable = (message: string) =>
  new Problem('unavailable', message, { headers: { 'Retry-After': '5', Connection: 'close' } })

/**
 * Bodies of those who have not proven yet who they are: whatever they send, and however slowly, they take so much memory and
 * no more. The room is given back when the work has ended.
 */
export const makeBodyRoom = ({ bytes: most, bytesOfAddress, withinMs }: Bounds = usualBounds) => {
  const taken = new Map<string, number>()
  let takenByAll = 0

  const add = (address: string, bytes: number): void => {
    const ofAddress = (taken.get(address) ?? 0) + bytes
    takenByAll += bytes
    if (ofAddress === 0) taken.delete(address)
    else taken.set(address, ofAddress)
  }

  return async <Result>(
    request: Pick<Request, 'ip' | 'socket'>,
    work: (take: Take) => Promise<Result>,
  ): Promise<Result> => {
    const address = addressOf(request)
    let own = 0
    let isOver = false
    const take: Take = (bytes) => {
      if (isOver) throw unavailable('The body came too late.')
      if (takenByAll + bytes > most || (taken.get(address) ?? 0) + bytes > bytesOfAddress)
        throw unavailable('Too many bodies are being received at the moment. Send the request again.')
      own += bytes
      add(address, bytes)
    }
    const tooLate = () =>
      unavailable(`The body did not come within ${withinMs / 1_000} seconds. Send the request again.`)
    try {
      return await withTimeout(work(take), withinMs, tooLate)
    } finally {
      isOver = true
      add(address, -own)
    }
  }
}

/** The memory is that of the process, whichever of its endpoints a body comes to. */
export const inBodyRoom = makeBodyRoom()
