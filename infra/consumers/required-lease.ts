import { AsyncLocalStorage } from 'node:async_hooks'
import { OwnError } from '#domain/own-error.ts'
import type { Lease } from './lease.ts'

/** The right to do what is being done has gone to another process, which does it now. */
export class LeaseLost extends OwnError {
  override readonly name = 'LeaseLost'
}

type Right = Pick<Lease, 'isHeld'> & {
  /** Calls `end` when the right is lost while what needs it is under way. */
  readonly whenLost?: (end: () => void) => void
}

const rights = new AsyncLocalStorage<Right>()

/**
 * Does work for which this process has the right. It reaches outside by many ways, and each of them asks `requireLease`: so
 * a process that was stopped in the middle of it does not ask, collect or send what another has taken over meanwhile.
 */
export const underLease = <Result>(right: Right, work: () => Result): Result => rights.run(right, work)

/** Throws when what is being done is done under a lease that may have gone to another process. */
export const requireLease = (): void => requirerOfLease()()

/** The same for later, in callbacks of others, where it is no longer known on whose behalf they are called. */
export const requirerOfLease = (): (() => void) => {
  const right = rights.getStore()
  return () => {
    if (right?.isHeld() === false) throw new LeaseLost('Another process may have taken this over.')
  }
}

/** Ends what is under way outside when the right to it goes to another process, which does it again. */
export const whenLeaseLost = (end: () => void): void => rights.getStore()?.whenLost?.(end)
