import { describe, expect, test } from 'vitest'
import { policyEvents } from '#domain/policies/events.ts'
import { evolvePolicy, type PolicyRecord } from '#domain/policies/record.ts'
import { noContact, type FirmContact } from '#domain/policy-rules/events.ts'
import { cancellationNotice, policySchedule } from '../../command-api/policies/documents.ts'
import { termRelease } from '../quotes/builders.ts'
import { sampleEvent } from '../stored-events/samples.ts'

const bound = sampleEvent(policyEvents, 'PolicyBound', 2)
const policy = evolvePolicy(undefined, bound, { occurred_at: '2026-02-01T09:00:00.000Z' })
const [life] = policy?.components ?? []
if (!policy || !life) throw new Error('The sample covers nothing.')

/** What a schedule says, by what it is said of. */
const said = (of: Partial<PolicyRecord>, changed_at?: string) => {
  const about = { policy: { ...policy, ...of }, release: termRelease, firm: 'Northlight Life' }
  const { blocks } = policySchedule({ ...about, ...(changed_at !== undefined && { changed_at }) })
  return Object.fromEntries(blocks.flatMap((block) => (block.kind === 'facts' ? block.facts : [])))
}
const ofCover = (change: Partial<typeof life>, of: Partial<PolicyRecord> = {}) =>
  said({ ...of, components: [{ ...life, ...change }] })

describe('the schedule of a policy', () => {
  test('adds up: what the covers cost, and the policy fee, are the premium', () => {
    expect(said({ premium_pence: life.premium_pence + 150 })).toMatchObject({
      'Of it, the policy fee': '£1.50 a month',
    })
    expect(said({ premium_pence: life.premium_pence })).not.toHaveProperty('Of it, the policy fee')
  })

  test('says that a sum assured falls', () => {
    expect(ofCover({ indexation_method: 'decreasing' })['Later years']).toBe('The sum assured falls over the term')
    expect(ofCover({ indexation_method: 'none' })).not.toHaveProperty('Later years')
  })

  test.each(['rpi', 'fixed_percent'] as const)('says that cover and premium grow: %s', (indexation_method) => {
    const shown = ofCover({ indexation_method }, { next_indexation_on: '2027-02-02' })
    expect(shown['Later years']).toBe('Cover and premium grow every year, next on 2 February 2027')
  })

  test('says when a premium is reviewed', () => {
    const shown = ofCover({ premium_basis: 'reviewable', review_period_years: 5 }, { next_review_on: '2031-02-02' })
    expect(shown['Premium is reviewed']).toBe('every 5 years, next on 2 February 2031')
  })

  test('says how many people it covers, and what a critical illness takes from the life cover', () => {
    expect(ofCover({ members: 12 })['People covered']).toBe('12')
    expect(ofCover({ cover_type: 'critical_illness', ci_payout_basis: 'accelerated' })).toHaveProperty('Paid out of')
    expect(ofCover({})).not.toHaveProperty('Paid out of')
  })

  test('says after a change when it is collected next, and at the sale when first', () => {
    const dates = { first_collection_on: '2026-02-15', next_collection_on: '2027-04-05' }
    expect(said(dates)).toMatchObject({ 'First collection': '15 February 2026' })
    const changed = said(dates, '2027-03-10T10:00:00.000Z')
    expect(changed).toMatchObject({ 'Next collection': '5 April 2027' })
    expect(changed).not.toHaveProperty('First collection')
  })
})

describe('the notice of the right to cancel', () => {
  const facts = (contact: FirmContact) => {
    const { blocks } = cancellationNotice({ policy, release: termRelease, firm: 'Northlight Life', contact })
    return blocks.flatMap((block) => (block.kind === 'facts' ? block.facts : [])).slice(4)
  }

  test('says how the firm is reached, as far as that is set up', () => {
    const contact = { address: '1 Harbour Street, Leeds LS1 4AP', phone: '0113 496 0100', email: null }
    expect(facts(contact)).toEqual([
      ['Write to', '1 Harbour Street, Leeds LS1 4AP'],
      ['Call', '0113 496 0100'],
    ])
    expect(facts(noContact)).toEqual([])
  })
})
