import { z } from 'zod'

/** Why somebody of the team does something about money, in words. */
export const GivenReason = z.string().trim().min(1).max(500).describe('Why, in words. For the team.')

/** What is sent for an act of the team that takes nothing else. */
export const WithReason = z.object({ reason: GivenReason })
