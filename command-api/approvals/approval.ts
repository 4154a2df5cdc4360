import { ProposalId, type Act, type ProposalEvent } from '#domain/approvals/events.ts'
import { fourEyes } from '#domain/approvals/four-eyes.ts'
import { proposal, type ProposalState } from '#domain/approvals/proposal.ts'
import { proposedChanges } from '#domain/approvals/proposed-changes.ts'
import { isOpen, noFourEyes } from '#domain/approvals/record.ts'
import { canonicalJson } from '#domain/canonical-json.ts'
import type { ProductState } from '#domain/catalogue/product.ts'
import type { RateTable } from '#domain/rating/events.ts'
import { OrganisationId } from '#domain/values.ts'
import type { Keys } from '#infra/crypto/keys.ts'
import { derivedId } from '#infra/ids.ts'
import type { EarlierTable } from '../catalogue/earlier-table.ts'
import { makeComparePrices } from '../catalogue/price-differences.ts'
import type { Approval, Held } from '../writing/approval.ts'
import { commandHandler, type Writer } from '../writing/handle.ts'
import { actOf } from './acts.ts'

/** A proposal that nobody decides ends after so many days. */
const expiresAfterDays = 14
/** Of those of the same act, as long as nothing changes, so many of the last are looked at for one that is not decided. */
const lastProposals = 20

const dayMs = 86_400_000

type Command = Readonly<Record<string, unknown>>

/** The same act has the same, however often it is asked for. */
const identityOf = (command: Command, volatile: readonly string[]): string =>
  canonicalJson(Object.fromEntries(Object.entries(command).filter(([name]) => !volatile.includes(name))))

type Deps = { readonly writer: Writer; readonly keys: Keys; readonly earlierTable: EarlierTable }

/** The number of those that there are, which are numbered from 0. */
const countOf = async (isThere: (number: number) => Promise<boolean>): Promise<number> => {
  let beyond = 0
  while (await isThere(beyond)) beyond = beyond * 2 + 1
  let among = Math.floor(beyond / 2)
  while (among < beyond) {
    const middle = Math.floor((among + beyond) / 2)
    if (await isThere(middle)) among = middle + 1
    else beyond = middle
  }
  return beyond
}

/** Holds back what organisations ask a second user for. */
export const makeApproval = ({ writer, keys, earlierTable }: Deps): Approval => {
  const rules = commandHandler(writer, fourEyes)
  const proposals = commandHandler(writer, proposal)
  const comparePrices = makeComparePrices(writer)

  /** A version of a rate table is shown beside the one before it. */
  const earlierOf = async ({ after, organisation_id }: Held, act: Act) => {
    if (act !== 'rate_table') return undefined
    return earlierTable(OrganisationId.parse(organisation_id), after as RateTable) // as its decider made it
  }

  /** A release is shown with sample prices before and after it. */
  const pricesOf = async ({ before, after, context }: Held, act: Act) => {
    if (act !== 'release') return undefined
    const [former, next] = [before, after] as readonly (ProductState | undefined)[] // as its decider made them
    return former?.current && next?.current && comparePrices(former.current, next.current, context.now)
  }

  /** The proposal of this very act that is not decided yet, or the id of a new one. */
  const findProposal = async (
    { stream, revision, organisation_id, command }: Held,
    isSame: (made: ProposalState) => boolean,
    volatile: readonly string[],
  ): Promise<{ readonly id: ProposalId; readonly isNew: boolean }> => {
    const key = [organisation_id ?? '', stream, String(revision ?? ''), identityOf(command as Command, volatile)]
    const idOf = (earlier: number) => ProposalId.parse(derivedId('proposal', ...key, String(earlier)))
    const earlier = await countOf(async (number) => (await proposals.load(idOf(number))) !== undefined)
    for (let number = earlier - 1; number >= Math.max(0, earlier - lastProposals); number--) {
      const known = await proposals.load(idOf(number))
      if (known && isOpen(known.record) && isSame(known)) return { id: idOf(number), isNew: false }
    }
    return { id: idOf(earlier), isNew: true }
  }

  return {
    mayAsk: (command) => actOf(command) !== undefined,

    isAsked: async ({ organisation_id, command, before, after }) => {
      const rule = (organisation_id && (await rules.load(organisation_id))) || noFourEyes
      return actOf(command)?.isAsked(rule, { command, before, after } as never) ?? false
    },

    propose: async (held) => {
      const { stream, revision, context, command, before, after } = held
      const act = actOf(command)
      if (!act) throw new Error('An act was proposed that waits for nobody.')
      const beside = { earlier: await earlierOf(held, act.act), prices: await pricesOf(held, act.act) }
      const given = { command, before, after, ...beside } as never // of the act's own types
      const isSame = ({ made }: ProposalState) => act.isSame?.(keys, command as never, made.command as never) ?? true
      const { id: proposal_id, isNew } = await findProposal(held, isSame, act.volatile)
      if (!isNew) return proposal_id
      const { note, ...kept } = command as Command
      const changes = proposedChanges(act.changes(given))
      const made: Omit<Extract<ProposalEvent, { type: 'ProposalMade' }>, 'type'> = {
        proposal_id,
        organisation_id: OrganisationId.parse(held.organisation_id),
        act: act.act,
        title: act.title(given),
        stream,
        revision: revision ?? null,
        command: kept,
        changes,
        changes_count: changes.length,
        note: typeof note === 'string' ? note : null,
        customer_id: act.customer?.(given) ?? null,
        proposed_by: context.actor,
        key_made_by: [...(context.key_made_by ?? [])],
        expires_at: new Date(Date.parse(context.now) + expiresAfterDays * dayMs).toISOString(),
      }
      await proposals.handle(proposal_id, { type: 'Propose', ...made }, context)
      return proposal_id
    },
  }
}
