import { formOf, textOf, type Form } from './form.ts'
import { bacsBehaviour, cardOf, invalid, makeId, Refused, secondsNow, type StripeObject } from './objects.ts'
import { eventOf } from './webhooks.ts'

/** The objects kept for one key, and those that have changed since they were last written down. */
export type Account = {
  readonly name: string
  readonly objects: Map<string, StripeObject>
  readonly changed: Set<string>
  readonly announced: StripeObject[]
}

export const emptyAccount = (name: string): Account => ({
  name,
  objects: new Map(),
  changed: new Set(),
  announced: [],
})

const keep = ({ objects, changed }: Account, object: StripeObject): StripeObject => {
  objects.set(object.id, object)
  changed.add(object.id)
  return object
}

export const change = (account: Account, object: StripeObject, changes: object): StripeObject =>
  keep(account, { ...object, ...changes })

export const find = ({ objects }: Account, type: string, id: unknown): StripeObject => {
  const object = objects.get(String(id))
  if (object?.object === type) return object
  throw new Refused(404, {
    type: 'invalid_request_error',
    code: 'resource_missing',
    message: `No such ${type}: '${String(id)}'`,
  })
}

export const create = (account: Account, prefix: string, object: string, fields: object): StripeObject =>
  keep(account, { id: makeId(prefix), object, created: secondsNow(), livemode: false, ...fields })

export const announce = ({ announced }: Account, type: string, object: StripeObject): void => {
  announced.push(eventOf(type, object))
}

export const required = (form: Form, name: string): string => {
  const value = textOf(form, name)
  if (value === undefined) throw invalid(`Missing required param: ${name}.`, 'parameter_missing', { param: name })
  return value
}

export const metadataOf = (form: Form) => formOf(form, 'metadata') ?? {}

export const refuseOldParameters = (form: Form): void => {
  if (form['payment_method_types'] !== undefined)
    throw invalid('Received unknown parameter: payment_method_types', 'parameter_unknown')
}

/** The later events of a charge, which come by themselves. */
export const aftermathOf = ({ objects }: Account, charge: StripeObject) => {
  const intent = objects.get(String(charge['payment_intent']))
  const mandate = objects.get(String(intent?.['mandate']))
  return cardOf(String(charge['payment_method'])) ?? bacsBehaviour(String(mandate?.['account_number']))
}
