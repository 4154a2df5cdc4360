import type { EventLog } from '#infra/event-log/event-log.ts'
import type { Provider } from '#infra/stripe/provider.ts'

/** Where a process is killed: at one of its writes, to the log or at the payment provider, before or after it is done. */
export type Kill = { readonly atWrite: number; readonly when: 'before' | 'after' }

const killed = () => new Error('This process was killed.')

/** What a process works with, when it is to be killed: from then on everything fails. */
export const mortal = (kill: Kill | undefined) => {
  let writes = 0
  let isDead = false
  const requireAlive = () => {
    if (isDead) throw killed()
  }
  const die = () => {
    isDead = true
    throw killed()
  }
  const write = async <Value>(work: () => Promise<Value>): Promise<Value> => {
    requireAlive()
    const isLast = ++writes === kill?.atWrite
    if (isLast && kill.when === 'before') die()
    const done = await work()
    if (isLast) die()
    return done
  }

  return {
    log: (log: EventLog): EventLog => ({
      ...log,
      read: async (...given) => {
        requireAlive()
        return log.read(...given)
      },
      append: async (...given) => write(async () => log.append(...given)),
    }),
    provider: (provider: Provider): Provider => ({
      ...provider,
      createCustomer: async (...given) => write(async () => provider.createCustomer(...given)),
      openMandateSession: async (...given) => write(async () => provider.openMandateSession(...given)),
      setUpMandate: async (...given) => write(async () => provider.setUpMandate(...given)),
      openPayment: async (...given) => write(async () => provider.openPayment(...given)),
      capture: async (...given) => write(async () => provider.capture(...given)),
      cancel: async (...given) => write(async () => provider.cancel(...given)),
      refund: async (...given) => write(async () => provider.refund(...given)),
      collect: async (...given) => write(async () => provider.collect(...given)),
    }),
  }
}
