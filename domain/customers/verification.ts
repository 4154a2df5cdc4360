import { Rejection } from '../rejection.ts'
import type { CustomerEvent, VerifiableDetail } from './events.ts'
import { isVerified, type Customer } from './record.ts'

type Said = Omit<Extract<CustomerEvent, { type: 'CustomerVerificationWithdrawn' }>, 'type'>

/** The team, or the person by a link, confirms that an email address or a telephone number is theirs. */
export type VerifyDetail = Said & { readonly type: 'VerifyDetail'; readonly value: string }

/** The team takes that back. */
export type WithdrawVerification = Said & { readonly type: 'WithdrawVerification' }

export type VerificationCommand = VerifyDetail | WithdrawVerification

export const detailNames: Readonly<Record<VerifiableDetail, string>> = {
  email: 'email address',
  phone_number: 'telephone number',
}

const known = (customer: Customer | undefined): Customer => {
  if (!customer) throw new Rejection('not_found', 'There is no person with this id. Check the address.')
  return customer
}

/** Only the present detail is confirmed, never one that the person had before. */
export const verifyDetail = (
  { type: _type, ...said }: VerifyDetail,
  customer: Customer | undefined,
): readonly CustomerEvent[] => {
  const { detail, value } = said
  const person = known(customer)
  if (person[detail] !== value)
    throw new Rejection('validation_failed', `The person has another ${detailNames[detail]} by now, or none.`, {
      value: `is not the ${detailNames[detail]} of the person`,
    })
  return isVerified(person, detail) ? [] : [{ type: 'CustomerDetailVerified', ...said }]
}

export const withdrawVerification = (
  { type: _type, ...said }: WithdrawVerification,
  customer: Customer | undefined,
): readonly CustomerEvent[] =>
  known(customer).verified[said.detail] ? [{ type: 'CustomerVerificationWithdrawn', ...said }] : []
