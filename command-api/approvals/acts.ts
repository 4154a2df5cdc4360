import type { Act, FourEyesRule } from '#domain/approvals/events.ts'
import { isLooser, type SetFourEyes } from '#domain/approvals/four-eyes.ts'
import { noFourEyes } from '#domain/approvals/record.ts'
import { canonicalJson } from '#domain/canonical-json.ts'
import type { PriceComparison } from '#domain/catalogue/sample-prices.ts'
import type { ProductCommand, ProductState } from '#domain/catalogue/product.ts'
import type { RateTableCommand } from '#domain/catalogue/rate-table.ts'
import { changesOf, type Change } from '#domain/changes.ts'
import type { ErasureCommand } from '#domain/erasures/erasure.ts'
import { decimalMoney, sumOf } from '#domain/money.ts'
import type { PaymentAccountCommand } from '#domain/payment-accounts/payment-account.ts'
import { paymentSecretBinding, type SealedPaymentAccount } from '#domain/payment-accounts/record.ts'
import type { PolicyState } from '#domain/policies/state.ts'
import type { RefundPremium } from '#domain/premiums/refunds.ts'
import { isByTeam, penceOf } from '#domain/premiums/refund-record.ts'
import { compareTables } from '#domain/rating/compare-tables.ts'
import type { RateTable } from '#domain/rating/events.ts'
import { signInSecretBinding, type SignInProvider } from '#domain/sign-in/record.ts'
import type { SignInProviderCommand } from '#domain/sign-in/sign-in-provider.ts'
import type { CustomerId } from '#domain/values.ts'
import { mostNamed, outcomeText, sampleText } from '../catalogue/price-differences.ts'
import type { Keys } from '#infra/crypto/keys.ts'
import { unseal } from '#infra/crypto/seal.ts'
import { installationKeys } from '#infra/crypto/subjects.ts'

/** The commands that can wait, by their types, with the states that they are decided on. */
type Acts = {
  readonly PublishRelease: {
    readonly command: Extract<ProductCommand, { type: 'PublishRelease' }>
    readonly state: ProductState
  }
  readonly PublishRateTable: { readonly command: RateTableCommand; readonly state: RateTable }
  readonly SetPaymentAccount: {
    readonly command: Extract<PaymentAccountCommand, { type: 'SetPaymentAccount' }>
    readonly state: SealedPaymentAccount
  }
  readonly RemovePaymentAccount: {
    readonly command: Extract<PaymentAccountCommand, { type: 'RemovePaymentAccount' }>
    readonly state: SealedPaymentAccount
  }
  readonly SetSignInProvider: {
    readonly command: Extract<SignInProviderCommand, { type: 'SetSignInProvider' }>
    readonly state: SignInProvider
  }
  readonly RefundPremium: { readonly command: RefundPremium; readonly state: PolicyState }
  readonly RequestErasure: {
    readonly command: Extract<ErasureCommand, { type: 'RequestErasure' }>
    readonly state: unknown
  }
  readonly SetFourEyes: { readonly command: SetFourEyes; readonly state: FourEyesRule }
}

type Given<Name extends keyof Acts> = {
  readonly command: Acts[Name]['command']
  readonly before: Acts[Name]['state'] | undefined
  readonly after: Acts[Name]['state']
  /** Of a version of a rate table: the one before it. */
  readonly earlier?: RateTable | undefined
  /** Of a release: sample prices, where they may be others. */
  readonly prices?: PriceComparison | undefined
}

type ActOf<Name extends keyof Acts> = {
  readonly act: Act
  readonly isAsked: (rule: FourEyesRule, given: Given<Name>) => boolean
  readonly title: (given: Given<Name>) => string
  readonly changes: (given: Given<Name>) => readonly Change[]
  /** The fields of the command that differ each time that the same is asked for. */
  readonly volatile: readonly string[]
  /** Of commands that are equal otherwise. */
  readonly isSame?: (keys: Pick<Keys, 'sealing'>, one: Given<Name>['command'], other: Given<Name>['command']) => boolean
  /** The person whom the reason may tell of. */
  readonly customer?: (given: Given<Name>) => CustomerId | null
}

const refundedByTeam = (state: PolicyState | undefined, premium_id: string): number => {
  const refunds = state?.premiums.find((each) => each.premium_id === premium_id)?.refunds ?? []
  return sumOf(
    refunds.filter((refund) => isByTeam(refund) && refund.status !== 'waived'),
    penceOf,
  )
}

const withoutSecrets = (account: SealedPaymentAccount | undefined) => {
  if (!account) return {}
  const { base_url, publishable_key, stripe_account, capture } = account
  return {
    base_url,
    publishable_key,
    stripe_account,
    capture,
    has_webhook_secret: account.sealed_webhook_secret !== null,
  }
}

const accountChanges = ({ command, before, after }: Given<'SetPaymentAccount'>): readonly Change[] => [
  ...changesOf(withoutSecrets(before), withoutSecrets(after)),
  ...(command.are_same_secrets ? [] : [{ path: 'secrets', before: before ? 'held' : 'none', after: 'replaced' }]),
]

const isSameAccount = (
  keys: Pick<Keys, 'sealing'>,
  one: Given<'SetPaymentAccount'>['command'],
  other: Given<'SetPaymentAccount'>['command'],
): boolean => {
  const opened = ({ organisation_id, payment_account_id, ...sealed }: typeof one) => {
    const open = (name: 'secret_key' | 'webhook_secret', text: string | null) =>
      text === null ? null : unseal(keys, text, paymentSecretBinding(organisation_id, payment_account_id, name))
    return [open('secret_key', sealed.sealed_secret_key), open('webhook_secret', sealed.sealed_webhook_secret)]
  }
  return canonicalJson(opened(one)) === canonicalJson(opened(other))
}

const withoutSecret = (provider: SignInProvider | undefined) => {
  if (!provider) return {}
  const { issuer, client_id, roles_claim, roles_of } = provider
  return { issuer, client_id, roles_claim, roles_of }
}

const isSameProvider = (
  keys: Pick<Keys, 'sealing'>,
  one: Given<'SetSignInProvider'>['command'],
  other: Given<'SetSignInProvider'>['command'],
): boolean => {
  const opened = ({ organisation_id, sign_in_provider_id, sealed_secret }: typeof one) =>
    unseal(keys, sealed_secret, signInSecretBinding(organisation_id ?? installationKeys, sign_in_provider_id))
  return opened(one) === opened(other)
}

/** Rates that are removed, and those that change most, come before what may be too many to be kept. */
const tableChanges = (before: RateTable, after: RateTable): readonly Change[] => {
  const { removed, changed, added } = compareTables(before, after, Infinity)
  const cells = [removed, changed, added].flatMap(({ samples }) => samples)
  return [
    ...changesOf({ ...before, cells: {} }, { ...after, cells: {} }),
    ...cells.map(({ at, ...rates }): Change => ({ path: `cells.${Object.values(at).join('|')}`, ...rates })),
  ]
}

/** The largest changes of sample prices. */
const priceChanges = (prices: PriceComparison | undefined, was: string | undefined, is: string): readonly Change[] =>
  (prices?.changed ?? []).slice(0, mostNamed).map(({ sample, before, after }) => ({
    path: `price of ${sampleText(sample)}`,
    before: outcomeText(before, was ?? is),
    after: outcomeText(after, is),
  }))

/** All that can wait for a second user, and how it is shown to them. */
export const acts: { readonly [Name in keyof Acts]: ActOf<Name> } = {
  PublishRelease: {
    act: 'release',
    isAsked: ({ release }) => release,
    title: ({ after }) => `Publish release ${after.current?.number ?? 1} of the product ${after.draft.slug}`,
    changes: ({ before, after, prices }) => [
      ...priceChanges(prices, before?.current?.currency_code, after.draft.currency_code),
      ...changesOf(before?.current ?? {}, after.current).filter(({ path }) => path !== 'id'),
    ],
    volatile: ['release_id', 'sold'],
  },
  PublishRateTable: {
    act: 'rate_table',
    isAsked: ({ rate_table }) => rate_table,
    title: ({ after }) => `Publish version ${after.version} of the rate table ${after.key}`,
    changes: ({ earlier, after }) => (earlier ? tableChanges(earlier, after) : changesOf({}, after)),
    volatile: [],
  },
  SetPaymentAccount: {
    act: 'payment_account',
    isAsked: ({ payment_account }) => payment_account,
    title: ({ command }) => `Set the ${command.mode} account with the payment provider`,
    changes: accountChanges,
    volatile: ['sealed_secret_key', 'sealed_webhook_secret', 'are_same_secrets', 'keeps', 'http_allowed'],
    isSame: isSameAccount,
  },
  RemovePaymentAccount: {
    act: 'payment_account',
    isAsked: ({ payment_account }) => payment_account,
    title: ({ before }) => `Remove the ${before?.mode ?? ''} account with the payment provider`,
    changes: ({ before }) => changesOf(withoutSecrets(before), {}),
    volatile: [],
  },
  // To remove one lets nobody in, and is done at once.
  SetSignInProvider: {
    act: 'sign_in_provider',
    isAsked: ({ sign_in_provider }) => sign_in_provider,
    title: ({ command }) => `Set the sign-in provider ${command.name}`,
    changes: ({ command, before, after }) => [
      ...changesOf(withoutSecret(before), withoutSecret(after)),
      ...(command.is_same_secret ? [] : [{ path: 'secret', before: before ? 'held' : 'none', after: 'replaced' }]),
    ],
    volatile: ['sealed_secret', 'is_same_secret', 'keeps_secret', 'http_allowed', 'others'],
    isSame: isSameProvider,
  },
  RefundPremium: {
    act: 'refund',
    isAsked: ({ refund_above_pence: limit }, { command, after }) =>
      limit !== null && refundedByTeam(after, command.premium_id) > limit,
    title: ({ command, before, after }) => {
      const pence = refundedByTeam(after, command.premium_id) - refundedByTeam(before, command.premium_id)
      return `Give ${decimalMoney(pence, after.currency_code)} ${after.currency_code} back of a premium`
    },
    changes: ({ command: { premium_id }, before, after }) => [
      {
        path: `premiums.${premium_id}.refunded_by_the_team_pence`,
        before: refundedByTeam(before, premium_id),
        after: refundedByTeam(after, premium_id),
      },
    ],
    volatile: ['refund_id'],
    customer: ({ after }) => after.customer.id,
  },
  RequestErasure: {
    act: 'erasure',
    isAsked: ({ erasure }) => erasure,
    title: ({ command }) => `Erase the person ${command.contact_id}`,
    changes: () => [{ path: 'person', before: 'can be read', after: 'erased for ever' }],
    volatile: ['requested_by', 'hindrances', 'streams'],
    customer: ({ command }) => command.contact_id,
  },
  SetFourEyes: {
    act: 'four_eyes',
    isAsked: (rule, { after }) => isLooser(after, rule),
    title: () => 'Ask for a second user less often',
    changes: ({ before, after }) => changesOf(before ?? noFourEyes, after),
    volatile: [],
  },
}

const isNamed = (type: unknown): type is keyof Acts => typeof type === 'string' && Object.hasOwn(acts, type)

/** The act that a command is; undefined: nobody is asked for it. The command and its states are of the act's own types. */
export const actOf = (command: unknown): ActOf<never> | undefined => {
  const { type } = command as { readonly type?: unknown }
  return isNamed(type) ? acts[type] : undefined
}
