import { z } from 'zod'
import type { Release } from '../catalogue/events.ts'
import type { Fields } from '../rejection.ts'
import type { ApplicationEvent } from './events.ts'
import { presentationOfApplication } from './record.ts'
import { inputsRefused } from './refusals.ts'
import { isOpen, type ApplicationState } from './state.ts'

/** An option chosen on an interstitial stage, which is named by its key or else by its position. */
export type ChooseInterstitial = {
  readonly type: 'ChooseInterstitial'
  readonly release: Release
  readonly choice_key: string
  readonly stage_key: string | undefined
  readonly stage_position: number | undefined
}

const Config = z.object({ choices: z.array(z.object({ key: z.string() })) })

/** An application that has ended or is with the team stays as it is. */
export const chooseInterstitial = (
  command: ChooseInterstitial,
  { record }: ApplicationState,
): readonly ApplicationEvent[] => {
  const { release, choice_key, stage_key, stage_position } = command
  const stages = (presentationOfApplication(release, record)?.stages ?? []).filter(
    ({ stage_type }) => stage_type === 'interstitial',
  )
  const stage = stages.find(({ key, position }) =>
    stage_key === undefined ? position === stage_position : key === stage_key,
  )
  if (!stage) throw inputsRefused('validation_failed', stageFault(command))
  const choices = Config.safeParse(stage.config).data?.choices ?? []
  if (!choices.some(({ key }) => key === choice_key)) {
    const offered = choices.map(({ key }) => key).join(', ')
    throw inputsRefused('validation_failed', { choice_key: `must be one of the choices of this stage: ${offered}` })
  }
  const isChosen = record.interstitial_choices[stage.key] === choice_key
  return isChosen || !isOpen(record) ? [] : [{ type: 'InterstitialChosen', stage_key: stage.key, choice_key }]
}

const stageFault = ({ stage_key, stage_position }: ChooseInterstitial): Fields => {
  const unknown = 'is no interstitial stage of the application’s presentation'
  if (stage_key !== undefined) return { stage_key: unknown }
  return stage_position === undefined
    ? { stage_key: 'required, unless stage_position is sent' }
    : { stage_position: unknown }
}
