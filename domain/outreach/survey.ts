import type { Survey } from './events.ts'

const isWhole = (text: string, least: number, most: number): boolean =>
  /^\d{1,2}$/.test(text) && Number(text) >= least && Number(text) <= most

/** Why an answer does not fit its question; undefined when it does. */
export const answerFault = ({ answer_type }: Pick<Survey, 'answer_type'>, answer: string): string | undefined => {
  switch (answer_type) {
    case 'nps':
      return isWhole(answer, 0, 10) ? undefined : 'must be a whole number from 0 to 10'
    case 'rating':
      return isWhole(answer, 1, 5) ? undefined : 'must be a whole number from 1 to 5'
    case 'yes_no':
      return answer === 'yes' || answer === 'no' ? undefined : 'must be yes or no'
    case 'text':
      return answer.trim() === '' ? 'must not be empty' : undefined
  }
}
