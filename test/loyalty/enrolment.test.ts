import { expect, test } from 'vitest'
import { noMembership } from '#domain/loyalty/membership-state.ts'
import type { Programme } from '#domain/loyalty/record.ts'
import { policyEvents } from '#domain/policies/events.ts'
import { OrganisationId } from '#domain/values.ts'
import { fromStored } from '#domain/event.ts'
import { productIdOf } from '../../command-api/catalogue/ids.ts'
import { membershipIdOf, programmeIdOf } from '../../command-api/loyalty/ids.ts'
import { whenPolicyBoundEnrolMember } from '../../command-api/loyalty/when-policy-bound-enrol-member.ts'
import { contextOf } from '../../command-api/reactions/reaction.ts'
import { samples } from '../stored-events/samples.ts'

const sample = samples.find(({ event }) => event.type === 'PolicyBound')?.event
if (!sample) throw new Error('There is no sample of PolicyBound.')
const organisation_id = OrganisationId.parse(sample.metadata.organisation_id)
const product_id = productIdOf(organisation_id, 'term-life')
const recorded = { ...sample, data: { ...sample.data, product_id } }
const bound = fromStored({ PolicyBound: policyEvents.PolicyBound }, recorded)

const programme = (slug: string, products: string[]): Programme => ({
  id: programmeIdOf(organisation_id, slug),
  organisation_id,
  slug,
  name: slug,
  tiers: [],
  cycle: { months: 12, starts: 'confirmation' },
  products,
  created_at: recorded.metadata.occurred_at,
  updated_at: recorded.metadata.occurred_at,
})

const enrolmentsBy = async (...programmes: readonly Programme[]) => {
  const enrolled: unknown[] = []
  const handle = async (id: string, command: object) => {
    enrolled.push([id, command])
    return { state: noMembership, events: [] }
  }
  const reaction = whenPolicyBoundEnrolMember({ handle }, new Map(programmes.map((each) => [each.id, each])))
  await reaction.react(bound, recorded, contextOf(reaction, recorded, new AbortController().signal))
  return enrolled
}

test('a bound policy of a linked product is enrolled, with its number and its customer', async () => {
  const linked = programme('vitality', ['term-life'])
  const id = membershipIdOf(organisation_id, linked.id, bound.policy_number)
  const enrolled = await enrolmentsBy(programme('another', ['mortgage-life']), linked)

  expect(enrolled).toEqual([
    [
      id,
      {
        type: 'Enrol',
        membership_id: id,
        organisation_id,
        programme_id: linked.id,
        customer_id: bound.customer_id,
        policy_id: bound.policy_id,
        policy_number: bound.policy_number,
      },
    ],
  ])
})

test('a bound policy is enrolled in every programme that its product is linked to', async () => {
  const linked = ['airmiles', 'vitality'].map((slug) => programme(slug, ['term-life']))
  const enrolled = await enrolmentsBy(...linked)
  expect(enrolled).toMatchObject(
    linked.map(({ id: programme_id }) => [
      membershipIdOf(organisation_id, programme_id, bound.policy_number),
      { programme_id },
    ]),
  )
})

test('a bound policy of another product is not', async () => {
  expect(await enrolmentsBy(programme('another', ['mortgage-life']))).toEqual([])
})
