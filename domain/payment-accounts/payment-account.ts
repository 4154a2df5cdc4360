import type { Decider } from '../decider.ts'
import { keptSecret, type Keeps } from '../kept-secrets.ts'
import { Rejection } from '../rejection.ts'
import { paymentAccountEvents, type PaymentAccountEvent } from './events.ts'
import { evolvePaymentAccount, type SealedPaymentAccount } from './record.ts'
import { notEncrypted } from '../web-address.ts'

type Set = Extract<PaymentAccountEvent, { type: 'PaymentAccountSet' }>

export type PaymentAccountCommand =
  | ({ readonly type: 'SetPaymentAccount' } & Omit<Set, 'type'> & {
        /** True where the operator's configuration permits plain http to this host. */
        readonly http_allowed: boolean
        /** Both secrets are those that are held, sealed again. */
        readonly are_same_secrets: boolean
        readonly keeps?: Keeps
      })
  | { readonly type: 'RemovePaymentAccount' }

type State = SealedPaymentAccount | undefined

const decide = (command: PaymentAccountCommand, existing: State): readonly PaymentAccountEvent[] => {
  if (command.type === 'RemovePaymentAccount') {
    if (!existing) return []
    const { organisation_id, mode } = existing
    return [{ type: 'PaymentAccountRemoved', organisation_id, mode }]
  }
  const { http_allowed, are_same_secrets, keeps, type: _type, ...account } = command
  refuseAddress(account.base_url, http_allowed)
  const isSame =
    existing &&
    are_same_secrets &&
    (['base_url', 'publishable_key', 'stripe_account', 'capture'] as const).every(
      (name) => existing[name] === account[name],
    )
  if (isSame) return []
  const goesWhereItWent = existing?.base_url === account.base_url && existing.stripe_account === account.stripe_account
  // A secret that was replaced meanwhile stays, but goes nowhere else.
  const held = goesWhereItWent ? existing.sealed_secret_key : undefined
  return [
    {
      type: 'PaymentAccountSet',
      ...account,
      sealed_secret_key: keptSecret(keeps?.secret, account.sealed_secret_key, held),
      sealed_webhook_secret: keptSecret(
        keeps?.webhook_secret,
        account.sealed_webhook_secret,
        existing?.sealed_webhook_secret,
      ),
    },
  ]
}

const refuseAddress = (base_url: string, http_allowed: boolean): void => {
  const url = URL.parse(base_url)
  const isPlain = url?.origin === base_url
  const isAllowed = url?.protocol === 'https:' || (url?.protocol === 'http:' && http_allowed)
  if (isPlain && isAllowed) return
  const reason = !isPlain ? 'must be an address without a path, such as https://api.stripe.com' : notEncrypted
  throw new Rejection('validation_failed', `The base address ${reason}.`, { base_url: reason })
}

export const paymentAccount: Decider<PaymentAccountCommand, typeof paymentAccountEvents, State> = {
  category: 'payment_account',
  events: paymentAccountEvents,
  initialState: undefined,
  decide,
  evolve: (_former, event, recorded) => evolvePaymentAccount(event, recorded),
}
