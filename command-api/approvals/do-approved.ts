import { fourEyes } from '#domain/approvals/four-eyes.ts'
import type { ProposalState } from '#domain/approvals/proposal.ts'
import { product } from '#domain/catalogue/product.ts'
import { rateTable } from '#domain/catalogue/rate-table.ts'
import { erasure, type ErasureCommand } from '#domain/erasures/erasure.ts'
import { categoryOf, idOf } from '#domain/event.ts'
import { paymentAccount } from '#domain/payment-accounts/payment-account.ts'
import { policy } from '#domain/policies/policy.ts'
import { SignInProviderId } from '#domain/sign-in/events.ts'
import { countOthers, type SignInProvider } from '#domain/sign-in/record.ts'
import { signInProvider } from '#domain/sign-in/sign-in-provider.ts'
import { ProductId, type OrganisationId } from '#domain/values.ts'
import { makeErasureRequest, type RequestDeps } from '../erasures/request.ts'
import { commandHandler, type Context, type Writer } from '../writing/handle.ts'

export type DoDeps = RequestDeps & {
  readonly writer: Writer
  readonly signInProviders: ReadonlyMap<string, SignInProvider>
  readonly hasSold: (organisation_id: OrganisationId, product_id: ProductId) => Promise<boolean>
}

type Handler = {
  readonly handle: (id: string, command: never, context: Context) => Promise<unknown>
  readonly preview: (id: string, command: never) => Promise<readonly unknown[]>
}

/** Does what was proposed, or tries if it can be done still. Throws a Rejection where the record refuses it by now. */
export const makeDoApproved = ({ writer, hasSold, signInProviders, ...deps }: DoDeps) => {
  const requestErasure = makeErasureRequest(deps)
  const handlers: Readonly<Record<string, Handler>> = {
    product: commandHandler(writer, product),
    rate_table: commandHandler(writer, rateTable),
    payment_account: commandHandler(writer, paymentAccount),
    sign_in_provider: commandHandler(writer, signInProvider),
    policy: commandHandler(writer, policy),
    erasure: commandHandler(writer, erasure),
    four_eyes: commandHandler(writer, fourEyes),
  }

  const handlerOf = (stream: string): Handler => {
    const handler = handlers[categoryOf(stream)]
    if (!handler) throw new Error(`Nothing of ${stream} waits for approval.`)
    return handler
  }

  /**
   * As it was proposed. Whom an erasure finds, if a product was sold, and how many providers there are beside one, is looked for again:
   * more may have happened by now.
   */
  const commandOf = async ({ made }: ProposalState): Promise<never> => {
    if (made.act === 'release') {
      const sold = await hasSold(made.organisation_id, ProductId.parse(idOf(made.stream)))
      return { ...made.command, sold } as never
    }
    if (made.act === 'sign_in_provider') {
      const id = SignInProviderId.parse(idOf(made.stream))
      return { ...made.command, others: countOthers(signInProviders, made.organisation_id, id) } as never
    }
    if (made.act !== 'erasure') return { ...made.command, ...(made.note !== null && { note: made.note }) } as never
    const { organisation_id, contact_id, requested_by } = made.command as Extract<
      ErasureCommand,
      { type: 'RequestErasure' }
    >
    return (await requestErasure({ organisation_id, contact_id }, requested_by)) as never
  }

  return {
    attempt: async (state: ProposalState): Promise<void> => {
      const { stream } = state.made
      await handlerOf(stream).preview(idOf(stream), await commandOf(state))
    },
    act: async (state: ProposalState, context: Context): Promise<void> => {
      const { stream, revision } = state.made
      const approved = { ...context, approved: { revision } }
      await handlerOf(stream).handle(idOf(stream), await commandOf(state), approved)
    },
  }
}
