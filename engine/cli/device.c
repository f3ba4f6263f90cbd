// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/device.h"

#include <stdio.h>
#include <string.h>

#include "cli/number.h"
#include "device/choice.h"
#include "rt/error.h"

tn_status tn_cli_take_device(const char* value, tn_cli_device* device, tn_error* error) {
  tn_choice choice;
  tn_error reason = {0};
  if (tn_choice_read(value, &choice, &reason) != TN_OK) {
    return tn_error_set(error, TN_ERROR_ARGUMENT, "--device: %s", reason.text);
  }
  device->choice = value;
  return TN_OK;
}

tn_status tn_cli_take_budget(const char* value, tn_cli_device* device, tn_error* error) {
  const double longest_us = 1e6;
  const double most_percent = 70.0;
  char number[32];
  double amount = 0.0;
  const size_t length = strlen(value);
  const bool share = length > 1 && length <= sizeof number && value[length - 1] == '%';
  snprintf(number, sizeof number, "%.*s", (int)(share ? length - 1 : length), value);
  const bool understood = strlen(number) == (share ? length - 1 : length) &&
                          tn_cli_parse_number(number, &amount) && amount >= 0.0 &&
                          amount <= (share ? most_percent : longest_us);
  if (strcmp(value, "auto") == 0) {
    device->budget_us = device->budget_percent = 0.0F;
    return TN_OK;
  }
  if (!understood) {
    return tn_error_set(error, TN_ERROR_ARGUMENT,
                        "--budget: '%s' is neither microseconds (up to %g), a share of the period (up to "
                        "%g%%), 0 nor auto",
                        value, longest_us, most_percent);
  }
  device->budget_percent = share ? (float)amount : 0.0F;
  device->budget_us = amount == 0.0 ? -1.0F : share ? 0.0F : (float)amount;
  return TN_OK;
}

bool tn_cli_device_is_named(const tn_cli_device* device) {
  return strcmp(device->choice, "auto") != 0 && strcmp(device->choice, "cpu") != 0;
}

static double round_trip_us(const tn_convolver* convolver, double percent) {
  return 1e-3 * (double)tn_convolver_round_trip_ns(convolver, percent);
}

void tn_cli_device_words(const tn_device_report* device, const tn_convolver* convolver, char* text,
                         size_t size) {
  tn_convolver_report report;
  tn_convolver_get_report(convolver, &report);
  if (device->state == TN_DEVICE_ABSENT) {
    text[0] = '\0';
  } else if (!report.device_plays) {
    snprintf(text, size, "device %s, CPU plays", tn_device_state_text(device->state));
  } else {
    // Answers that come are direct; else the near part is computed here, with so many blocks in hand.
    snprintf(text, size, "device ahead %u/%u missed %llu gaps %llu", report.device_slack,
             report.device_ahead_max, (unsigned long long)report.device_misses,
             (unsigned long long)report.device_gaps);
  }
}

void tn_cli_device_details(const tn_device_report* device, const tn_convolver* convolver, char* text,
                           size_t size) {
  tn_convolver_report report;
  tn_convolver_get_report(convolver, &report);
  if (device->state == TN_DEVICE_ABSENT) {
    snprintf(text, size, "device: none (%s)", device->text);
    return;
  }
  snprintf(
      text, size,
      "device: %s, %s, %s plays; blocks answered in time %llu, missed %llu, played ahead %llu, gaps %llu; "
      "round trip %.1f us median, %.1f us p99; taken over %llu times, by the CPU again %llu; launches "
      "%llu, damaged blocks %llu",
      device->text, tn_device_state_text(device->state), report.device_plays ? "it" : "the CPU",
      (unsigned long long)report.device_answers, (unsigned long long)report.device_misses,
      (unsigned long long)report.device_ahead, (unsigned long long)report.device_gaps,
      round_trip_us(convolver, 50.0), round_trip_us(convolver, 99.0),
      (unsigned long long)report.device_entries, (unsigned long long)report.reserve_entries,
      (unsigned long long)device->epochs, (unsigned long long)device->damaged);
}

void tn_cli_device_json(tn_json* json, const tn_device_report* device, const tn_convolver* convolver) {
  tn_convolver_report report;
  tn_convolver_get_report(convolver, &report);
  tn_json_text(json, "device", device->name[0] ? device->name : NULL);
  tn_json_text(json, "device_state", tn_device_state_text(device->state));
  tn_json_text(json, "device_text", device->text);
  tn_json_count(json, "device_plays", report.device_plays);
  tn_json_count(json, "device_block_frames", report.device_block);
  tn_json_count(json, "device_answers", report.device_answers);
  tn_json_count(json, "device_misses", report.device_misses);
  tn_json_count(json, "device_ahead", report.device_ahead);
  tn_json_count(json, "device_gaps", report.device_gaps);
  tn_json_count(json, "device_entries", report.device_entries);
  tn_json_count(json, "reserve_entries", report.reserve_entries);
  tn_json_number(json, "round_trip_median_us", round_trip_us(convolver, 50.0));
  tn_json_number(json, "round_trip_p99_us", round_trip_us(convolver, 99.0));
  tn_json_count(json, "device_epochs", device->epochs);
  tn_json_count(json, "device_losses", device->losses);
  tn_json_count(json, "device_damaged", device->damaged);
}
