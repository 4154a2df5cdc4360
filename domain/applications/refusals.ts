import { Rejection, type Fields } from '../rejection.ts'
import { isGivenUp, isOpen } from './state.ts'
import type { ApplicationRecord } from './record.ts'

/** The reason why it cannot be priced, accepted or bought, and what to do. */
export const closed = (record: ApplicationRecord): string => {
  if (record.status === 'referred') return 'This application is with our team. Wait for what they decide.'
  if (isGivenUp(record)) return 'This application was given up for inactivity. Save something on it to open it again.'
  return `This application has ended: ${record.status}. Start another one.`
}

export const refuseClosed = (record: ApplicationRecord): void => {
  if (isOpen(record)) return
  if (isGivenUp(record)) throw new Rejection('application_closed', closed(record))
  const why = record.status === 'referred' ? 'is with the team: referred' : `has ended: ${record.status}`
  throw new Rejection('application_closed', `This application ${why}. Start another one to change anything.`)
}

type InputsCode = 'validation_failed' | 'customer_invalid' | 'partner_invalid'

export const inputsRefused = (code: InputsCode, fields: Fields) =>
  new Rejection(code, `Correct ${Object.keys(fields).join(', ')} and send the request again.`, fields)

export const refuseInputs = (code: InputsCode, fields: Fields): void => {
  if (Object.keys(fields).length > 0) throw inputsRefused(code, fields)
}
