import { isSameJson } from '../canonical-json.ts'
import type { Decider } from '../decider.ts'
import { Rejection } from '../rejection.ts'
import type { OrganisationId, ProgrammeId } from '../values.ts'
import { programmeEvents, type ProgrammeEvent } from './events.ts'
import { evolveProgramme, type Programme } from './record.ts'

export type ProgrammeChoices = Pick<Programme, 'name' | 'tiers' | 'cycle' | 'products'>

export type ProgrammeCommand =
  | {
      readonly type: 'CreateProgramme'
      readonly programme_id: ProgrammeId
      readonly organisation_id: OrganisationId
      readonly slug: string
      readonly choices: ProgrammeChoices
    }
  | { readonly type: 'ChangeProgramme'; readonly choices: Partial<ProgrammeChoices> }

const decide = (command: ProgrammeCommand, programme: Programme | undefined): readonly ProgrammeEvent[] => {
  switch (command.type) {
    case 'CreateProgramme': {
      const { type: _type, choices, ...identity } = command
      if (programme)
        throw new Rejection('conflict', `There is a programme ${command.slug} already. Change that one.`, {
          slug: 'is taken',
        })
      refuseUnusable(choices)
      return [{ type: 'ProgrammeCreated', ...identity, ...choices }]
    }
    case 'ChangeProgramme': {
      if (!programme) throw new Rejection('not_found', 'There is no programme with this id. Check the address.')
      const choices = { ...choicesOf(programme), ...command.choices }
      refuseUnusable(choices)
      return isSameJson(choices, choicesOf(programme)) ? [] : [{ type: 'ProgrammeChanged', ...choices }]
    }
  }
}

const choicesOf = ({ name, tiers, cycle, products }: Programme): ProgrammeChoices => ({ name, tiers, cycle, products })

const refuseUnusable = ({ tiers, cycle }: ProgrammeChoices): void => {
  const repeated = tiers.findIndex(({ key }, index) => tiers.findIndex((other) => other.key === key) < index)
  if (repeated !== -1)
    throw new Rejection('validation_failed', 'Two tiers have the same key. Give each its own.', {
      [`tiers[${repeated}].key`]: 'is that of an earlier tier',
    })
  if (cycle.starts !== 'confirmation' && 12 % cycle.months !== 0)
    throw new Rejection(
      'validation_failed',
      'A cycle that begins on a fixed day of the year lasts 1, 2, 3, 4, 6 or 12 months.',
      { 'cycle.months': 'must divide a year' },
    )
}

export const programme: Decider<ProgrammeCommand, typeof programmeEvents, Programme | undefined> = {
  category: 'programme',
  events: programmeEvents,
  initialState: undefined,
  decide,
  evolve: evolveProgramme,
}
