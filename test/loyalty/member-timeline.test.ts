import { expect, test, vi } from 'vitest'
import { openFirm } from '../outreach/firm.ts'

test(
  'what becomes of a membership stands on the timeline of its member: membership_changed, once each',
  { timeout: 90_000 },
  async () => {
    await using firm = await openFirm()
    const contact = await firm.lead()
    const tiers = [{ key: 'gold', name: 'Gold' }]
    const cycle = { months: 12, starts: 'confirmation' }
    const created = await firm.service.send<{ id: string }>('POST', `${firm.admin}/programmes`, {
      body: { slug: 'vitality', name: 'Vitality', tiers, cycle },
    })
    const enrolled = await firm.service.send<{ id: string }>(
      'POST',
      `${firm.admin}/programmes/${created.body.data.id}/memberships`,
      { body: { policy_number: 'P-1', customer_id: contact } },
    )
    const address = `/api/v1/programme_memberships/${enrolled.body.data.id}`
    const { token } = firm.client
    const patch = (body: object) => firm.service.send('PATCH', address, { token, body })

    await patch({ status: 'active', external_member_ref: 'V-1' })
    await patch({ status: 'suspended' })
    await patch({ status: 'active' })
    const events = [
      { idempotency_key: 'points', entry_type: 'points_awarded', points: 5 },
      { idempotency_key: 'tier', entry_type: 'tier_asserted', tier_key: 'gold' },
    ]
    await firm.service.send('POST', `${address}/events`, { token, body: { events } })
    await patch({ status: 'cancelled' })

    await vi.waitFor(
      async () => {
        const feed = `/api/v1/crm/events?contact_id=${contact}&type=activity.membership_changed`
        const { body } = await firm.service.send<readonly { payload: { summary: string } }[]>('GET', feed, { token })
        expect(body.data.map(({ payload }) => payload.summary)).toEqual([
          'Enrolled in Vitality',
          'Membership of Vitality was confirmed',
          'Membership of Vitality was suspended',
          'Membership of Vitality was reinstated',
          'Tier gold of Vitality',
          'Membership of Vitality was cancelled',
        ])
      },
      { timeout: 60_000, interval: 50 },
    )
  },
)
